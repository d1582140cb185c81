# make            build the website, serve it, and print its address
# make watch      serve the website; build an edition again and reload the open page when a file is saved
# make site       only build the website, into _build/html
# make check      check format, types, texts, the notebooks that differ from the last commit, and the English notebooks
#                 that use a changed module (if they take over 3 minutes, it names them): a minute, and their time
# make format     format the code as make check requires
# make test       test the models, the website and the English notebooks: 4 minutes
# make prove      test everything, in all languages: 20 minutes
# make prove PART=models  test a part: models, checker, grader, pages, or rest (the tests that `make test` leaves out)
# make fuzz       compare the models and the small torch with torch in over 10,000 random configurations, and the
#                 small torch in 5,000 random programs
# make outside    compare layers of released models with the package transformers, and the scan in Triton with the loop;
#                 needs a network
# make card       on a graphics card: test layers and learning, compare its messages, measure, store the evidence
# make pdf        build the website, and print every edition as a PDF; needs Chromium
# make offline    build the website, and pack it into _build/html/unrolled.zip to be read without a network
# make live       download what pages need to run cells, and build the website with it; needs Node.js and a network
# make audit      measure every page with Lighthouse, as on a phone; needs Node.js and Chromium
# make links      check the links to other websites; needs a network
# make lab        open the English chapters in JupyterLab; make lab LANGUAGE=ja: the Japanese ones
# make execute    run all notebooks again and store their outputs
# make status     list cells that are missing, stale or different in the translations
# make assignments  make the students' notebooks, without the solutions, in _build/assignments/
#                 make assignments QUESTIONS=folder: those of your own questions; with DRY=yes it writes nothing, and says
#                 what is wrong with the questions, and which probes reveal which mistake
# make exam TOPICS="1 2 gru" STUDENTS=30  make an exam with a paper for each student, and its key, in _build/exam/; without
#                 TOPICS it lists the topics, with LIST=yes their questions. Also QUESTIONS=12, MINUTES=45, SEED=…, LANGUAGE=ja, PAPER=Letter, TITLE="…",
#                 WITHOUT="memory gru/parameters", OUTPUT=folder
# make slides PAGE=lstm LANGUAGE=ja  make slides of a chapter in _build/slides/, which any browser shows; without PAGE of
#                 all chapters, without LANGUAGE in all languages. Also PDF=yes; needs Node.js, and a network once
# make sheets     make three sheets to print, in _build/sheets/en/: nn.LSTM, when it does not learn, the family of
#                 recurrences. Also LANGUAGE=ja, PAPER=Letter, OUTPUT=folder
# make grade SUBMISSIONS=submissions.zip  grade all submissions, into grades/: the zip file from Canvas or Moodle, or a
#                 folder. Also ROSTER=class.csv, DATES=course.toml, COMMENTS=comments.csv, QUESTIONS=folder, GRADES=folder;
#                 with DRY=yes it grades nothing, and says who is missing
# make clean      remove everything that was built

LANGUAGE ?= en
GRADES ?= grades
PAGE ?=
PART ?=
STEP ?=
BIN := .venv/bin
ENVIRONMENT := .venv/stamp
# Each process gets whole files, the longest first. conftest.py sets the number of processes.
PYTEST := $(BIN)/python -m pytest --nbval --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: book watch site live pdf offline check lint format test prove fuzz outside card audit links lab execute status assignments exam slides sheets grade clean

book: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --serve

watch: $(ENVIRONMENT)
	$(BIN)/python -m book.site.watch

site: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build

live: $(ENVIRONMENT)
	$(BIN)/python -m book.live.fetch
	$(BIN)/python -m book.site.build --live

pdf: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --pdf

offline: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --archive

NOTEBOOKS = $(shell $(BIN)/python -m book.tools.affected_notebooks)
check: $(ENVIRONMENT) lint
	$(PYTEST) tests/project/test_rooms.py tests/project/test_named_paths.py tests/tools $(addprefix tests/site/test_,book.py terms.py readme.py) $(NOTEBOOKS)

# The last line checks the scripts if npm is installed.
lint: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/python -m book.tools.scripts

format: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet --fix . || true
	$(BIN)/ruff format --quiet .
	$(BIN)/python -m book.tools.scripts --fix

test: $(ENVIRONMENT)
	$(PYTEST) tests small_torch/tests book/en assignments/source/en

# Each test and notebook belongs to one part: tests/project/test_proof_parts.py checks this.
models := tests/layers tests/learning tests/bench tests/export tests/page tests/project $(wildcard book/*/*.ipynb)
checker := tests/check tests/live small_torch/tests
grader := tests/assignments $(wildcard assignments/source/*/*.ipynb)
pages := tests/site tests/figures tests/tools tests/questions tests/slides tests/sheets
PARTS := models checker grader pages

prove: $(ENVIRONMENT)
	$(if $(filter-out $(PARTS) rest,$(PART)),$(error PART is one of: $(PARTS) rest))
	$(PYTEST) $(if $(filter rest,$(PART)),--rest,--prove) $(foreach part,$(or $(filter-out rest,$(PART)),$(PARTS)),$($(part)))

fuzz: $(ENVIRONMENT)
	FUZZ=1 $(PYTEST) tests/layers/test_recurrent.py tests/layers/test_embedding.py tests/layers/test_attention.py tests/layers/test_newton.py tests/layers/test_scan.py tests/layers/test_selective.py tests/layers/test_matrix_state.py tests/layers/test_matrix_layers.py
	$(BIN)/python small_torch/tests/fuzz --programs 5000

# This environment extends .venv by packages that nothing else needs.
outside: $(ENVIRONMENT)
	$(BIN)/python -m venv _build/outside
	$(BIN)/python -c "import sysconfig as s; print(s.get_path('purelib'))" > $$(_build/outside/bin/python -c "import sysconfig as s; print(s.get_path('purelib'))")/book.pth
	_build/outside/bin/python -m pip install --quiet --editable .[outside]
	TRITON_INTERPRET=1 _build/outside/bin/python -m pytest tests/layers/against_transformers.py \
		tests/layers/against_released.py tests/layers/against_triton.py

card: $(ENVIRONMENT)
	$(BIN)/python benchmarks/card.py $(STEP)

audit: $(ENVIRONMENT)
	$(BIN)/python -m book.site.audit.audit $(foreach name,$(PAGE),--page $(name))

links: site
	$(BIN)/linkchecker --no-status --no-robots --check-extern _build/html/index.html

lab: $(ENVIRONMENT)
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) book/$(LANGUAGE)

execute: $(ENVIRONMENT)
	$(BIN)/python -m book.tools.execute

status: $(ENVIRONMENT)
	$(BIN)/python -m book.tools.translations

assignments: $(ENVIRONMENT)
	$(BIN)/python -m $(if $(QUESTIONS),assignments.own$(if $(DRY),,.notebooks) "$(QUESTIONS)",assignments.student_version)

exam: $(ENVIRONMENT)
	$(BIN)/python -m book.exam $(TOPICS) --language $(LANGUAGE) --without $(WITHOUT) $(if $(LIST),--list) \
		$(foreach option,SEED STUDENTS QUESTIONS PAPER TITLE MINUTES OUTPUT,$(if $($(option)),--$(shell echo $(option) | tr A-Z a-z) "$($(option))"))

# LANGUAGE has a default, for other commands: here it counts only if it was given.
slides: $(ENVIRONMENT)
	$(BIN)/python -m book.slides $(PAGE) $(if $(filter-out file,$(origin LANGUAGE)),--language $(LANGUAGE)) $(if $(PDF),--pdf)

sheets: $(ENVIRONMENT)
	$(BIN)/python -m book.sheets --language $(LANGUAGE) \
		$(foreach option,PAPER OUTPUT,$(if $($(option)),--$(shell echo $(option) | tr A-Z a-z) "$($(option))"))

grade: $(ENVIRONMENT)
	$(if $(SUBMISSIONS),,$(error Which submissions? make grade SUBMISSIONS=submissions.zip))
	$(BIN)/python -m assignments "$(SUBMISSIONS)" --output "$(GRADES)" \
		$(foreach option,ROSTER DATES COMMENTS QUESTIONS,$(if $($(option)),--$(shell echo $(option) | tr A-Z a-z) "$($(option))")) \
		$(if $(DRY),--dry-run)

clean:
	rm -rf _build .hypothesis .pytest_cache *.egg-info small_torch/src/*.egg-info
	find assignments book companion small_torch tests -name __pycache__ -prune -exec rm -rf {} +

# The script decides whether to do anything: time stamps do not tell which Python or folder .venv was made for.
$(ENVIRONMENT): FORCE
	@sh .ci/environment
FORCE:

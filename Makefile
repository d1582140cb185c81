# make            the book: its environment, the site, and an address at which to read it
# make watch      the site; what is saved is built again and shown in the open browser
# make site       only build the site, into _build/html
# make check      format, types, texts, and the notebooks that differ from the last commit: a minute
# make format     write the format that make check asks for
# make test       in minutes what a change can break: the models, the site, and the outputs of the English notebooks
# make prove      all of it, in all languages, by every example and every attack
# make prove PART=models  a part of it: models, checker, grader, pages, or rest: what `make test` leaves out
# make fuzz       the models, and the small torch of the pages, against torch over more than 10,000 random configurations
# make outside    matrix states and mLSTM against the same equations in the package transformers; needs a network
# make pdf        the site, with every edition printed as a PDF; needs Chromium
# make offline    the site, packed into _build/html/unrolled.zip to be read without a network
# make live       what readers need to run and change cells on the site's pages, and the site with it; needs Node.js and a network
# make audit      Lighthouse's figures for every page, as a phone sees it; needs Node.js and Chromium
# make links      whether the site's links to other sites lead there; needs a network
# make lab        the English chapters as notebooks; make lab LANGUAGE=ja the Japanese ones
# make execute    run all notebooks again and store what they print
# make status     what is missing, stale or different in the translations
# make assignments  the students' notebooks, without the solutions, into _build/assignments/
# make grade SUBMISSIONS=folder  grades of all submissions, into grades/
# make clean      remove what was built

LANGUAGE ?= en
GRADES ?= grades
PAGE ?=
PART ?=
BIN := .venv/bin
ENVIRONMENT := .venv/stamp
# whole files to each process, the longest first; how many there are: conftest.py
PYTEST := $(BIN)/python -m pytest --nbval --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: book watch site live pdf offline check lint format test prove fuzz outside audit links lab execute status assignments grade clean

book: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --serve

watch: $(ENVIRONMENT)
	$(BIN)/python -m book.site.watch

site: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build

live: $(ENVIRONMENT)
	$(BIN)/python -m book.live.fetch
	$(BIN)/python -m book.site.build

pdf: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --pdf

offline: $(ENVIRONMENT)
	$(BIN)/python -m book.site.build --archive

CHANGED = $(wildcard $(shell git ls-files --modified --others --exclude-standard 'book/*.ipynb' 'assignments/source/*.ipynb' 2>/dev/null))
check: $(ENVIRONMENT) lint
	$(PYTEST) tests/project/test_rooms.py tests/project/test_named_paths.py tests/tools $(addprefix tests/site/test_,book.py terms.py readme.py) $(CHANGED)

# format, unused names, types; the scripts where npm is there
lint: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/python -m book.tools.scripts

format: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet --fix . || true
	$(BIN)/ruff format --quiet .
	$(BIN)/python -m book.tools.scripts --fix

test: $(ENVIRONMENT)
	$(PYTEST) tests small_torch/tests book/en assignments/source/en

# Each test and notebook belongs to one part; tests/project/test_proof_parts.py holds that.
models := tests/layers tests/learning tests/page tests/project $(wildcard book/*/*.ipynb)
checker := tests/check tests/live small_torch/tests
grader := tests/assignments $(wildcard assignments/source/*/*.ipynb)
pages := tests/site tests/figures tests/tools
PARTS := models checker grader pages

prove: $(ENVIRONMENT)
	$(if $(filter-out $(PARTS) rest,$(PART)),$(error PART is one of: $(PARTS) rest))
	$(PYTEST) $(if $(filter rest,$(PART)),--rest,--prove) $(foreach part,$(or $(filter-out rest,$(PART)),$(PARTS)),$($(part)))

fuzz: $(ENVIRONMENT)
	FUZZ=1 $(PYTEST) tests/layers/test_recurrent.py tests/layers/test_embedding.py tests/layers/test_attention.py tests/layers/test_newton.py tests/layers/test_scan.py tests/layers/test_selective.py tests/layers/test_matrix_state.py tests/layers/test_matrix_layers.py small_torch/tests/test_operations.py

# an environment on top of the book's, for what nothing else here needs
outside: $(ENVIRONMENT)
	$(BIN)/python -m venv _build/outside
	$(BIN)/python -c "import sysconfig as s; print(s.get_path('purelib'))" > $$(_build/outside/bin/python -c "import sysconfig as s; print(s.get_path('purelib'))")/book.pth
	_build/outside/bin/python -m pip install --quiet --editable .[outside]
	_build/outside/bin/python -m pytest tests/layers/outside.py

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
	$(BIN)/python -m assignments.student_version

grade: $(ENVIRONMENT)
	$(if $(SUBMISSIONS),,$(error Which folder? make grade SUBMISSIONS=folder))
	$(BIN)/python -m assignments "$(SUBMISSIONS)" --output "$(GRADES)"

clean:
	rm -rf _build .hypothesis .pytest_cache *.egg-info small_torch/src/*.egg-info
	find assignments book companion small_torch tests -name __pycache__ -prune -exec rm -rf {} +

# It looks for itself whether anything is to be done: time stamps do not say which Python or folder .venv is made for.
$(ENVIRONMENT): FORCE
	@sh .ci/environment
FORCE:

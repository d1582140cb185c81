"""Short questions about the chapters: shown on the pages, printed as exams.

- `words/<language>/<page>.toml`: the texts of the questions about a page. The English file also says where each answer
  is shown. `words/<language>.toml`: the words around the questions.
- `numbers/<page>.py`: a function for each question whose numbers are drawn.
- `bank.py` reads both: `ask("rnn/parameters", seed, language)`.
- `from_checker.py` makes questions from those of the assignments' checker, `from_oral.py` from the grader's oral ones.
- `markup.py` makes HTML of them. `book/site/extension/questions/` puts them on pages, `book/exam/` prints exams.

A question in words:

    [two_results]
    place = "rnn#two-results"                         # the cell that shows the answer
    shows = "Then the state has one row for each layer"   # a text or number of this cell: a test fails if it is gone
    ask = "…"
    right = "…"
    because = "…"                                      # shown with the right answer
    wrong = [["a choice", "the mistake behind it"], …]   # at least three

A question with numbers has no `right` and no `wrong`. Its texts have `{name}` for each value that is drawn, `because`
also `{right}`. A table has the words of each mistake; for the others those of the checker are taken:

    [parameters]
    place = "rnn#h-n-has-layers"
    shows = "216"
    ask = "How many numbers does `nn.RNN({input_size}, {hidden_size})` learn?"
    because = "…"
    [parameters.mistakes]
    one_bias = "Torch has two biases."

A function of the same name, in `numbers/rnn.py`, draws and computes. The first mistake is the most likely one, and at
least three have to give other answers than the right one:

    def parameters(rng):  # a random.Random
        input_size, hidden_size = rng.sample(range(3, 30), 2)
        right = count(RNN(input_size, hidden_size))
        mistakes = {"one_bias": right - hidden_size, …}
        return Numbers(right, mistakes, {"input_size": input_size, "hidden_size": hidden_size})

`tests/questions/recomputed/rnn.py` has a function `parameters(input_size, hidden_size)` that computes the answer in
another way. A question that shows wrong code needs no texts and no translation: `checker` is a question of the checker,
and `mistakes` names at least four of its mistakes, one of which the seed chooses. The same is true of a question that
changes one line of right code, `changed = "gru_step"`: the changed code is run.

A page shows the first five questions of its file; exams use all. Other languages have the same names in the same
order, with texts alone; until they have one, its test fails for them. `make exam TOPICS=rnn LIST=yes` prints the
questions, and `python -m pytest tests/questions -k rnn` tests them.

Texts are Markdown: code, emphasis and blocks of code, no links, no formulas in dollars. Write σ, ⊙, h_t.
"""

"""Short questions about the chapters: shown on the pages, printed as exams.

- `words/<language>/<page>.toml`: the questions about a page. The English file also says where each answer is shown.
- `numbers/<page>.py`: a function for each question whose numbers are drawn. It computes the right answer with the
  companion, and the answers that known mistakes give.
- `bank.py` reads both: `ask("rnn/parameters", seed, language)`.
- `from_checker.py` makes questions from those of the assignments' checker, `from_oral.py` from the grader's oral ones.
- `markup.py` makes HTML of them. `book/site/extension/questions/` puts them on pages, `book/exam/` prints exams.

A question in words:

    [why_tanh]
    place = "rnn#one-step"          # the cell that shows the answer
    shows = "no longer grows"   # a text or number of that cell, so that a test fails when the cell changes
    ask = "…"
    right = "…"
    because = "…"               # shown with the right answer
    wrong = [["a choice", "the mistake behind it"], …]   # at least three

A question with numbers has the same name as its function, `{name}` for each value that the function draws, and instead
of `right` and `wrong` a table with the words of each mistake:

    [parameters]
    place = "rnn#h-n-has-layers"
    ask = "How many numbers does `nn.RNN({input_size}, {hidden_size})` learn?"
    because = "…"
    [parameters.mistakes]
    one_bias = "Torch has two biases."

Mistakes without words there have those of the checker. A question that shows wrong code has only the names of a
question of the checker and of its mistakes, and needs no translation:

    [find_the_mistake]
    place = "gru#four-equations"
    checker = "gru_step"
    mistakes = ["update_gate_inverted", …]   # at least four; the seed chooses the one that is right

A question that changes one line of right code, as the grader's oral questions do, has only the name of a question of
the checker (`changed = "gru_step"`); the changed code is run.

Texts are Markdown: code, emphasis and blocks of code, no links, no formulas in dollars. Write σ, ⊙, h_t.
"""

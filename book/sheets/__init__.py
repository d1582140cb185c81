"""Sheets to print, one or two sides each: `nn.LSTM`, networks that do not learn, and the family of recurrences.

- `words/<language>.toml`: the texts, in Markdown with formulas in dollars. `{name}` is a number. `[words](page#cell)`
  is a link; `[](page#cell)` has the number of the chapter and the section's heading as its words, `[#](page#cell)`
  only the number.
- `templates/<sheet>.html`: one template for each sheet, for all languages.
- `lstm.py`, `learning.py`, `recurrences.py`: what stands on each sheet besides words. Shapes and messages come from
  torch, sizes and results from the companion, equations from the chapters.
- `quotes.toml`: numbers from the chapters' stored outputs, and where they stand. `quotes.py` reads them.
- `calls.toml`: wrong and right calls, which are run when the sheet is made.

The command is `make sheets`. The site has the sheets as `<language>/sheets/<sheet>.html`; pages link to them by
`[words](sheets/lstm.html)`, which book/site/extension/languages.py resolves.
"""

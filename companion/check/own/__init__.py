"""Questions that are not in this package: one Python file each, outside of it.

A file `leaky_step.py` in a folder is the question `leaky_step`; the folder is its assignment. A number at the beginning
orders the files and is not part of the name: `2_leaky_step.py`. In the file stand

- a docstring: the task in Markdown. Its first heading is the title.
- the reference: a function of the file's name, or a class of this name in capitals (`LeakyStep`), an `nn.Module`.
- `def inputs(draw, …)`: returns what the reference is called with, by the names of its arguments. `draw(2, 3)` draws
  numbers between -1 and 1, `draw.whole(5, 2, 3)` integers below 5. Further arguments are sizes, such as `batch`: probes
  with several sizes are then made, the smallest first. A default is the smallest value that a size may have. Without
  such arguments it may return a list of probes, the smallest first. An argument of the reference with the name of a
  size gets that size. Parameters of a layer are drawn.
- `POINTS = 2`, and if these are extra points `STRETCH = True`.
- `MISTAKES`: `{"name": {"change": {"text in the reference": "wrong text"}, "says": "…", "advice": "…"}}`
- `VARIANTS`: `{"name": {"asks": "…", "change": {…}}}`, the first without a change.
- `GRADIENTS = False`, if gradients are not to be compared; `READ = "gru#four-equations"`, a place in the book to read.
- `LANGUAGE = "ja"`, if the texts are not in English. `TEXTS = {"ko": "…"}`: the task in another language. `says`,
  `advice` and `asks` may be texts by language.

files.py finds and reads files, probes.py makes probes from `inputs`, build.py makes the question, and notebook.py is
for students' notebooks.
"""

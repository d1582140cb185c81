"""Slides of the chapters, made with reveal.js. The command is `make slides`.

- `marks.py` reads from the English notebooks which cells are slides, and knows which marks are stale.
- `cells.py` cuts a built page into the HTML of its cells.
- `deck.py` puts marked cells together to a deck; `slides.js` and `slides.css` fit them into the slide.

Nothing on a slide is written for it: a page of the built site has all text, formulas, pictures, outputs and figures.
The three marks are those of JupyterLab (*Common tools*, *Slide Type*), in the metadata of the English cell:

    "slideshow": {"slide_type": "slide"}      begins a slide with this cell
    "slideshow": {"slide_type": "fragment"}   shows this cell as the next step of the slide
    "slideshow": {"slide_type": "notes"}      makes this cell's text notes of the slide; if it begins a section, of
                                              the next slide
    "slide_part": "output"                    shows only the output of a code cell; "code" shows only the code
    "slide_asks": "lstm/forget_rows"          a question of the bank, on a slide of its own after the cell's slide
    "slide_seen": "0f3c5a…"                   the digest of the cell when its slide was last looked at
"""

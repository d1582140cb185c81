"""Test what stands under a chapter's title: minutes to read, number of exercises, and ways to run its cells."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import editions
from book.site.extension.reading_time import reading_time
from tests.project.paths import light_soup

CODE = "x = 1\n" * 600
PICTURE = new_output("display_data", {"image/svg+xml": "<svg/>", "application/vnd.jupyter.widget-view+json": {}})
TABLE = new_output("display_data", {"text/markdown": "| a | b |\n|:--|--:|\n| 1 | 2 |"})


@pytest.mark.parametrize(
    ("cells", "minutes"),
    [
        ([new_markdown_cell("word " * 3000)], 20),
        ([new_markdown_cell("[word](https://example.org/a_long_address) " * 3000)], 20),
        ([new_code_cell(CODE)], 40),
        ([new_markdown_cell(f"```python\n{CODE}```")], 40),
        ([new_code_cell("", outputs=[PICTURE, TABLE] * 20)], 20),
        ([new_markdown_cell("$$\nx\n$$\n\n![A picture](a.svg)\n\n| a |\n|:--|\n\n" * 20)], 30),
        ([new_markdown_cell("![A part of it](a.svg#part)\n\n" * 60)], 5),
        ([new_code_cell("", outputs=[new_output("stream", text=CODE)])], 5),
        ([new_code_cell(CODE, metadata={"tags": ["remove-cell"]})], 5),
    ],
)
def test_minutes_count_words_lines_and_pictures_without_exercises(tmp_path, cells, minutes):
    """Check that exercises and solutions count as none, but the sections after them do."""
    exercises = [
        new_markdown_cell("## Exercises\n\n**1.** " + "word " * 3000, id="exercises"),
        new_code_cell(CODE, id="solution-a", outputs=[PICTURE] * 40),
        new_markdown_cell("**2.** Which?\n\n**3.** Why?"),
        new_code_cell(CODE, id="solution-b"),
    ]
    path = tmp_path / "chapter.ipynb"
    for after, expected in (([], minutes), ([new_markdown_cell("## More\n\n" + "word " * 1500)], None)):
        nbformat.write(new_notebook(cells=[*cells, *exercises, *after]), path)
        found, number = reading_time(path)
        assert number == 3 and (found == expected if expected else found > minutes)


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_every_chapter_shows_its_minutes_exercises_and_ways_to_run(site, edition):
    """Check that they are the same in all languages, and that pages without code cells offer no way to run them."""
    for path in sorted((site / edition.language).glob("*.html")):
        page, english = light_soup(path), editions.BOOK / editions.ORIGINAL / f"{path.stem}.ipynb"
        begin = page.select_one(".begin")
        if not english.is_file():
            assert begin is None or path.stem in edition.assignments
            continue
        shown = [int(number) for span in begin.select("span") for number in re.findall(r"\d+", span.get_text())]
        assert shown == [value for value in reading_time(english) if value], path.name
        assert len(begin.select("button[popovertarget]")) == bool(page.select(".cell_input")), path.name

"""Cut a page of the built site into the HTML of its cells."""

import re

from bs4 import BeautifulSoup

# Parts of a page that are not on slides: buttons, questions (slides have their own), and places to write.
UNUSED = "script[src], .headerlink, .begin, .enlarge, .quiz, .quiz-key, .guess, .guesses, .again, button.copybtn"
SHOWN = ["ul", "ol", "dl", "div", "figure", "pre"]  # beside the first paragraph, all but further paragraphs
PICTURE = "svg.picture:not([data-figure] *), [data-figure], img"


class Page:
    """A built page. html: its text. blocks: cell → its elements, headings: cell → the HTML of the heading above it."""

    def __init__(self, html, ids):
        """ids: the ids of the notebook's cells. The page names them, but it has other anchors, too."""
        self.soup = BeautifulSoup(html, "html.parser")
        article = self.soup.select_one("article.text")
        for element in article.select(UNUSED):
            element.decompose()
        for link in article.select("a"):
            if not re.match(r"https?:", link.get("href", "")):
                link.unwrap()
        self.title = article.h1.decode_contents().strip()
        self.blocks, self.headings = {name: [] for name in ids}, {}
        self.collect(article.select_one("section"), ids[0], "")

    def collect(self, section, cell, heading):
        """Assign the elements of a section to cells. cell: the last one before; heading: the one above."""
        anchor = section["id"].partition("--")[0]
        cell = anchor if anchor in self.blocks else cell
        for element in section.find_all(True, recursive=False):
            name = element.get("id")
            if element.name == "section":
                cell = self.collect(element, cell, heading)
                continue
            if element.name == "span" and "place" in element.get("class", ()) and name in self.blocks:
                cell = name
            elif re.fullmatch("h[1-6]", element.name):
                heading = element.decode_contents().strip()
            else:
                self.blocks[cell].append(element)
            self.headings.setdefault(cell, heading)
        return cell

    def shown(self, cell, part=""):
        """Return what a slide shows of a cell, as pairs of HTML and whether it is a picture or figure.

        Of a text: its first paragraph, and all that is no paragraph. Of code: the code and its output, but only the
        output if that is a picture or a figure. part: of code, "code" or "output" to show only this.
        """
        pairs, said = [], False
        for block in self.blocks[cell]:
            if "cell" in block.get("class", ()):
                pairs += shown_of_code(block, part)
            elif picture := block.select_one(PICTURE) or (block if block.name == "svg" else None):
                pairs.append((str(picture), True))
            elif block.name == "p" and not said:
                pairs.append((str(block), False))
                said = True
            elif block.name in SHOWN:
                pairs.append((str(block), False))
        return pairs

    def text(self, cell):
        """Return all of a cell's text for the notes: without pictures, which the slide shows."""
        blocks = BeautifulSoup("".join(map(str, self.blocks[cell])), "html.parser")
        for element in blocks.select(f"{PICTURE}, .cell"):
            element.decompose()
        return str(blocks).strip()


def shown_of_code(block, part):
    """Return what a slide shows of a code cell, as `Page.shown` does."""
    if part != "code" and (pictures := block.select(f".cell_output :is({PICTURE})")):
        texts = [text for text in block.select(".cell_output > .output") if not text.select(PICTURE)]
        return [(str(text), False) for text in texts] + [(str(picture), True) for picture in pictures]
    for unwanted in {"code": block.select(".cell_output"), "output": block.select(".cell_input")}.get(part, ()):
        unwanted.decompose()
    return [(str(block), False)]

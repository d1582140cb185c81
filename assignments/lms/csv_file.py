"""A table in CSV of which some cells are filled in, and nothing else is changed: no quote, no order, no line's end."""

import codecs
import re
from dataclasses import dataclass, field

LARGEST = 32 * 2**20  # bytes
NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass
class Sheet:
    text: str
    separator: str
    mark: bool  # whether it begins with the mark of UTF-8
    rows: list  # of lists of texts
    places: list  # where each cell stands in the text: (begin, end)
    filled: dict = field(default_factory=dict)  # {(row, column): text}

    def cell(self, row, column):
        """What a cell says; nothing where a row is too short."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.filled.get((row, column), self.rows[row][column])

    def written(self):
        """The whole as bytes, with what was filled in."""
        pieces, at, width = [], 0, {}
        for (row, column), said in sorted(self.filled.items()):
            there = width.get(row, len(self.places[row]))
            short = max(0, column + 1 - there)  # cells that the row lacks
            width[row] = there + short
            begin, end = (self.places[row][-1][1],) * 2 if short else self.places[row][column]
            if self.text[begin:end].startswith('"') or re.search(rf'["\r\n{self.separator}]', said):
                said = '"' + said.replace('"', '""') + '"'
            pieces += [self.text[at:begin], self.separator * short, said]
            at = end
        return codecs.BOM_UTF8 * self.mark + "".join([*pieces, self.text[at:]]).encode("utf-8")


def read(path):
    """The table of a file. ValueError if it is none, OSError if it cannot be read."""
    with open(path, "rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"{path} is too large for a class list")
    mark = raw.startswith(codecs.BOM_UTF8)
    try:
        text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(
            f"{path} is not in UTF-8: take the file as it was exported, or save it as “CSV UTF-8”"
        ) from None
    first = max((len(scanned(text, one, 1)[0][0]), one) for one in ",;\t") if text.strip() else (0, "")
    if first[0] < 2:
        raise ValueError(f"{path} is no table in CSV: its first line has no columns")
    return Sheet(text, first[1], mark, *scanned(text, first[1]))


def scanned(text, separator, most=None):
    """Rows of cells, and where these stand. most: how many rows are asked for."""
    cell = re.compile(rf'"((?:[^"]|"")*)"([^{separator}\r\n]*)|[^{separator}\r\n]*')
    rows, places, row, place, at = [], [], [], [], 0
    while True:
        found = cell.match(text, at)
        quoted = found[1] is not None
        row.append(found[1].replace('""', '"') + found[2] if quoted else found[0])
        place.append(found.span())
        at = found.end()
        if at < len(text) and text[at] == separator:
            at += 1
            continue
        rows.append(row)
        places.append(place)
        row, place = [], []
        if at == len(text) or len(rows) == most:
            return rows, places
        at = NEWLINE.match(text, at).end()
        if at == len(text):
            return rows, places

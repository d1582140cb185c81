"""A CSV table in which some cells are filled in and every other byte stays as it was: quotes, order, line ends."""

import codecs
import re
from dataclasses import dataclass, field

MAX_BYTES = 32 * 2**20
NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass
class Sheet:
    """A CSV table with the position of each cell in its text."""

    text: str
    separator: str
    mark: bool  # the file begins with a byte order mark
    rows: list  # lists of texts
    places: list  # of cells in the text: (begin, end)
    filled: dict = field(default_factory=dict)  # {(row, column): text}

    def cell(self, row, column):
        """Return the text of a cell, or "" if the row is too short."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.filled.get((row, column), self.rows[row][column])

    def to_bytes(self):
        """Return the whole table as bytes, with the cells that were filled in."""
        pieces, position, width = [], 0, {}
        for (row, column), value in sorted(self.filled.items()):
            cells_in_row = width.get(row, len(self.places[row]))
            missing = max(0, column + 1 - cells_in_row)
            width[row] = cells_in_row + missing
            begin, end = (self.places[row][-1][1],) * 2 if missing else self.places[row][column]
            if self.text[begin:end].startswith('"') or re.search(rf'["\r\n{self.separator}]', value):
                value = '"' + value.replace('"', '""') + '"'
            pieces += [self.text[position:begin], self.separator * missing, value]
            position = end
        return codecs.BOM_UTF8 * self.mark + "".join([*pieces, self.text[position:]]).encode("utf-8")


def read(path):
    """Read a table; raise ValueError if the file is not a table, OSError if it cannot be read."""
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} is too large for a table of a course")
    mark = content.startswith(codecs.BOM_UTF8)
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}, is not in UTF-8: take the file as it was exported, or save it as “CSV UTF-8”"
        ) from None
    best = max((len(scan(text, separator, 1)[0][0]), separator) for separator in ",;\t") if text.strip() else (0, "")
    if best[0] < 2:
        raise ValueError(f"{path} is no table in CSV: its first line has no columns")
    return Sheet(text, best[1], mark, *scan(text, best[1]))


def scan(text, separator, limit=None):
    """Return rows of cells, and where the cells are in the text. limit: the number of rows to read."""
    cell = re.compile(rf'"((?:[^"]|"")*)"([^{separator}\r\n]*)|[^{separator}\r\n]*')
    rows, places, row, spans, position = [], [], [], [], 0
    while True:
        match = cell.match(text, position)
        quoted = match[1] is not None
        row.append(match[1].replace('""', '"') + match[2] if quoted else match[0])
        spans.append(match.span())
        position = match.end()
        if position < len(text) and text[position] == separator:
            position += 1
            continue
        rows.append(row)
        places.append(spans)
        row, spans = [], []
        if position == len(text) or len(rows) == limit:
            return rows, places
        position = NEWLINE.match(text, position).end()
        if position == len(text):
            return rows, places

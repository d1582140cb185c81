"""A reader's table as people and programs write it: separators, decimal signs, names of columns, rows that do not fit.

What is odd is not refused if it can be read; `Table.notes` says what was done.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from companion.learning.files import BYTE_ORDER_MARKS, OTHER_FORMATS
from companion.learning.own_series.times import looks_like_time
from companion.learning.own_series.words import FileProblem, Note, language_of, note

MAX_ROWS = 50_000
SAMPLE = 400  # rows that are looked at to find out what a file and its columns are
SEPARATORS = "\t", ";", "|", ","
# encodings of files that are not UTF-8, as spreadsheets write them
ENCODINGS = {"ja": "cp932", "ko": "cp949", "zh": "gb18030"}
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ ]*\r?\n')
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "---", "–", "—", ".", "..", "?", "*"}
MISSING |= {"missing", "#value!", "#div/0!", "#ref!", "欠測", "欠損", "缺失", "缺测", "无", "결측", "없음"}
# a number, and the unit after it
NUMBER = re.compile(r"[€$£¥₩]?\s*([-+\u2212]?(?:\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s]{0,4})")
# digits in groups of three, by decimal sign
THOUSANDS = {
    ".": re.compile(r"[-+]?\d{1,3}(?:[,'’\u00a0\u202f ]\d{2,3})*[,'’\u00a0\u202f ]\d{3}(?:\.\d*)?"),
    ",": re.compile(r"[-+]?\d{1,3}(?:[.'’\u00a0\u202f ]\d{3})+(?:,\d*)?"),
}
GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
INFINITE = {"inf", "+inf", "-inf", "infinity", "-infinity", "∞"}


def is_missing(text: str) -> bool:
    """Return True for a cell that has no value."""
    return text.lower() in MISSING


def to_number(digits: str, decimal: str) -> float | None:
    """Return the number that digits with this decimal sign represent, None if they represent none."""
    digits = digits.strip().replace("\N{MINUS SIGN}", "-")
    if THOUSANDS[decimal].fullmatch(digits):
        digits = re.sub(rf"[^-+\d{decimal}]", "", digits)
    try:
        return float(digits.replace(",", "."))  # a few numbers may have the other sign
    except ValueError:
        return None


def decode(raw: bytes, language: str) -> tuple[str, list[Note]]:
    """Return the text of a file, and what there is to say about its encoding."""
    if any(raw.startswith(start) for start in OTHER_FORMATS):
        raise FileProblem("format")
    marked = next((name for mark, name in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)
    other = ENCODINGS.get(language, "cp1252")
    for encoding in [marked] if marked else ["utf-8", other]:
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        encoding, text = "latin-1", raw.decode("latin-1")
    if "\0" in text:
        raise FileProblem("binary")
    return text, [] if marked or encoding == "utf-8" else [note("encoding", encoding=encoding)]


def split_lines(text: str, separator: str) -> tuple[list[int], list[list[str]]]:
    """Return the lines at which rows begin, and the rows' cells, without empty rows."""
    lines, rows = [], []
    if separator == " ":
        for number, line in enumerate(io.StringIO(text), 1):
            if line.strip():
                lines.append(number)
                rows.append([cell.strip('"') for cell in line.split()])
        return lines, rows
    limit = csv.field_size_limit(len(text) + 1)
    try:
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):  # the second if nobody closes a quote
            start, lines, rows, swallowed = 1, [], [], False
            reader = csv.reader(
                io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, skipinitialspace=True
            )
            for cells in reader:
                swallowed = swallowed or reader.line_num - start > 3
                cells = [cell.strip().strip('"').strip() for cell in cells]
                if any(cells):
                    lines.append(start)
                    rows.append(cells)
                start = reader.line_num + 1
            if not swallowed:
                break
    finally:
        csv.field_size_limit(limit)
    return lines, rows


def usual_length(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Return the number of cells that most rows have, and their share."""
    counts = Counter(map(len, rows[-max(1, len(rows) * 3 // 4) :]))  # titles stand above
    length, count = counts.most_common(1)[0]
    return length, count / sum(counts.values())


def find_separator(text: str) -> str:
    """Return the separator that gives most rows an equal number of cells, "," if there is only one column."""
    sample = "".join(line for _, line in zip(range(SAMPLE), io.StringIO(text), strict=False))
    for separator in (*SEPARATORS, " "):
        _, rows = split_lines(sample, separator)
        if not rows:
            continue
        length, share = usual_length(rows)
        if length > 1 and share >= (0.8 if separator != " " else 0.95):
            return separator
    return ","


@dataclass
class Table:
    """Rows of cells under names. lines: where each row begins in the file."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    decimal: str = "."
    notes: list[Note] = field(default_factory=list)

    def texts(self, column: int) -> list[str]:
        """Return the cells of a column."""
        return [row[column] for row in self.rows]

    def sample(self, column: int) -> list[str]:
        """Return some cells of a column that are not missing."""
        step = max(1, len(self.rows) // SAMPLE)
        return [row[column] for row in self.rows[::step] if not is_missing(row[column])]

    def numbers(self, column: int) -> list[float | None]:
        """Return the numbers of a column: nan for missing ones, None for cells that have no number."""
        return parse_numbers(self.texts(column), self.decimal)

    def is_numeric(self, column: int) -> bool:
        """Return True if most cells of a column that are not missing are numbers."""
        sample = self.sample(column)
        found = [number for number in parse_numbers(sample, self.decimal) if number is not None]
        return len(found) >= max(1, 0.8 * len(sample))


def parse_numbers(texts: Sequence[str], decimal: str) -> list[float | None]:
    """Return the numbers in cells: nan for a missing one, None for a cell without a number, or with another unit."""
    matches = [None if is_missing(text) else NUMBER.fullmatch(text) for text in texts]
    units = Counter(match[2] for match in matches if match)
    unit = units.most_common(1)[0][0] if units else ""
    numbers: list[float | None] = []
    for text, match in zip(texts, matches, strict=True):
        if is_missing(text):
            numbers.append(math.nan)
        elif match and match[2] in ("", unit):
            numbers.append(to_number(match[1], decimal))
        else:
            numbers.append(None)
    return numbers


def find_decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return the decimal sign of the numbers in rows."""
    points = commas = 0
    groups = True
    for row in rows:
        for cell in row:
            match = NUMBER.fullmatch(cell)
            if not match or "." not in cell and "," not in cell:
                continue
            digits = match[1].strip()
            point, comma = digits.rfind("."), digits.rfind(",")
            if point >= 0 and comma >= 0:  # the later one is the decimal sign
                points, commas = points + 10 * (point > comma), commas + 10 * (comma > point)
            elif digits.count(".") == 1:
                points += 1
            elif digits.count(",") == 1:
                commas += 1
                groups = groups and bool(GROUPS.fullmatch(digits))
    if separator == "," and groups:  # "1,234" in quotes
        return "."
    return "," if commas > points else "."


def joined_decimals(rows: list[list[str]], length: int) -> list[list[str]] | None:
    """Return rows of which the last two cells are one number with a decimal comma; None if they may be two."""
    if any(not (row[-1].isdigit() and re.fullmatch(r"[-+]?\d+", row[-2])) for row in rows if len(row) == length):
        return None
    return [[*row[:-2], f"{row[-2]},{row[-1]}"] if len(row) == length else row for row in rows]


def find_names(rows: list[list[str]], decimal: str) -> bool:
    """Return whether the first row has names: one of its cells is a word where numbers or times follow.

    In a table without numbers and times, it has names if none of its cells comes again below.
    """
    first, body, has_values = rows[0], rows[1 : SAMPLE + 1], False
    for k, cell in enumerate(first):
        below = [row[k] for row in body if not is_missing(row[k])]
        if not below or is_missing(cell):
            continue
        numbers = sum(number is not None for number in parse_numbers(below, decimal))
        times = sum(map(looks_like_time, below))
        is_value = parse_numbers([cell], decimal)[0] is not None or looks_like_time(cell)
        if max(numbers, times) >= 0.5 * len(below):
            has_values = True
            if not is_value:
                return True
    return not has_values and all(cell and cell not in {row[k] for row in body} for k, cell in enumerate(first))


def unique(names: list[str]) -> list[str]:
    """Return names of columns of which each is there once and none is empty."""
    seen: Counter[str] = Counter()
    found = []
    for k, name in enumerate(names, 1):
        name = name or str(k)
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def read_table(source: str | bytes | Path, language: str | None = None) -> Table:
    """Return the table of a file, of its bytes, or of a text with line breaks. Raise FileProblem if it has none."""
    if isinstance(source, str) and "\n" in source:
        source = source.encode()
    raw = source if isinstance(source, bytes) else Path(source).read_bytes()
    text, notes = decode(raw, language_of(language))
    if not text.strip():
        raise FileProblem("empty")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    told = SEPARATOR_LINE.match(text)
    text = text[: told.end()].replace(told[0], "\n") + text[told.end() :] if told else text
    separator = told[1] if told else find_separator(text)
    lines, rows = split_lines(text, separator)
    if not rows:
        raise FileProblem("empty")
    length, _ = usual_length(rows[: 4 * SAMPLE])
    first = next(k for k, row in enumerate(rows) if len(row) in (length, length - 1) and any(row))
    if len(rows[first]) < length and is_title(rows[first + 1 :], length):
        first = next(k for k, row in enumerate(rows) if len(row) == length)
    if first:
        notes.append(note("above", count=first))
    lines, rows = lines[first:], rows[first:]
    if len(rows[0]) == length - 1 and len(rows) > 1:
        body = rows[1:]
        joined = joined_decimals(body, length) if separator == "," and length > 1 else None
        if all(not row[-1] for row in body[:SAMPLE] if len(row) == length):  # a separator ends each line
            rows = [rows[0], *([row[:-1] if len(row) == length else row for row in body])]
            length -= 1
        elif joined:
            rows, length = [rows[0], *joined], length - 1
        else:
            rows[0] = ["", *rows[0]]  # R names the rows, but not their column
    decimal = find_decimal(rows[1 : SAMPLE + 1], separator)
    kept = [(line, row[:length]) for line, row in zip(lines, rows, strict=True) if fits(row, length)]
    has_names = len(kept) > 1 and find_names([row for _, row in kept], decimal)
    while has_names and len(kept) > 2 and kept[0][1].count("") > kept[1][1].count("") and follows_names(kept, decimal):
        kept.pop(0)  # a title, with empty cells beside it
        notes = [note("above", count=1 + sum(one.values["count"] for one in notes if one.key == "above"))]
    if wrong := [line for line, row in zip(lines, rows, strict=True) if not fits(row, length)]:
        notes.append(note("length", count=len(wrong), line=wrong[0], columns=length))
    names = kept.pop(0)[1] if has_names else [""] * length
    if len(kept) > MAX_ROWS:
        notes.append(note("rows", count=f"{len(kept):,}", kept=f"{MAX_ROWS:,}"))
    return Table(
        unique(names), [row for _, row in kept[:MAX_ROWS]], [line for line, _ in kept[:MAX_ROWS]], decimal, notes
    )


def follows_names(rows: list[tuple[int, list[str]]], decimal: str) -> bool:
    """Return whether the second row has names, too."""
    return find_names([row for _, row in rows[1:]], decimal)


def is_title(below: list[list[str]], length: int) -> bool:
    """Return whether a short row is a title: another one follows, or the names."""
    full = [row for row in below if len(row) == length]
    return not full or len(below[0]) != length or find_names(full, find_decimal(full[1 : SAMPLE + 1], ";"))


def fits(row: list[str], length: int) -> bool:
    """Return whether a row has so many cells; empty ones may follow."""
    return len(row) == length or len(row) > length and not any(row[length:])

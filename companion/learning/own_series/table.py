"""A reader's table as people and programs write it: separators, decimal signs, names of columns, rows that do not fit.

What is odd is not refused if it can be read; `Table.notes` says what was done.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from statistics import median_low
from typing import Any

from companion.learning.files import BYTE_ORDER_MARKS, OTHER_FORMATS
from companion.learning.own_series.times import looks_like_time
from companion.learning.own_series.words import FileProblem, Note, note
from companion.learning.tables import SEPARATOR_LINE
from companion.words import language_of

MAX_ROWS = 50_000
SAMPLE = 400  # rows that are looked at to find out what a file and its columns are
SEPARATORS = "\t", ";", "|", ","
# encodings of files that are not UTF-8, and for each: the codec that has its usual characters as those whose first byte
# is at most the next value, and characters that tables use
ENCODINGS = {
    "cp1252": ("", 0, ""),
    "cp932": ("shift_jis", 0x97, "年月日時刻分間温度湿気圧電力量値番号"),
    "cp949": ("euc_kr", 0xC8, "날짜시간일자년월온도습기압전력량값번호"),
    "gb18030": ("gb2312", 0xD7, "日期时间年月温度湿气压电功率数值量号"),
    "latin-1": ("", 0, ""),
}
LANGUAGES = {"ja": "cp932", "ko": "cp949", "zh": "gb18030"}
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "---", "–", "—", ".", "..", "?", "*"}
MISSING |= {"missing", "#value!", "#div/0!", "#ref!", "欠測", "欠損", "缺失", "缺测", "无", "결측", "없음"}
# a number, and the unit after it
NUMBER = re.compile(r"[€$£¥₩]?\s*([-+\u2212]?(?:\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s]{0,4})")
# digits in groups of three, by decimal sign
THOUSANDS = {
    ".": re.compile(r"[-+]?\d{1,3}(?:[,'’\u00a0\u202f ]\d{2,3})*[,'’\u00a0\u202f ]\d{3}(?:\.\d*)?"),
    ",": re.compile(r"[-+]?\d{1,3}(?:[.'’\u00a0\u202f ]\d{3})+(?:,\d*)?"),
}
UNSURE = re.compile(r"[-+\u2212]?[1-9]\d{0,2}[.,]\d{3}")  # thousands, or three decimals
UNMARKED = re.compile(r"[-+\u2212]?(\d+)")
EUROPEAN_LETTERS = re.compile(
    r"(?<![^\0-\x7f])(?:[^\0-\x7f]|[^\0-\x7f]{2}(?=[A-Za-z])|(?<=[A-Za-z])[^\0-\x7f]{2})(?![^\0-\x7f])"
)
EUROPEAN = re.compile(r"\d{1,2}\.\d{1,2}\.(\d{4}|\d{2})\b")  # dates of countries that write 1.234,5


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


def decode(raw: bytes, encoding: str | None, language: str) -> tuple[str, str | None]:
    """Return the text of a file, and its encoding if that is not Unicode. encoding: None to guess."""
    if any(raw.startswith(start) for start in OTHER_FORMATS):
        raise FileProblem("format")
    marked = next((name for mark, name in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)
    read: dict[str, str] = {}
    for name in [marked or encoding or "utf-8", *([] if marked or encoding else ENCODINGS)]:
        with suppress(UnicodeDecodeError, LookupError):
            read[name] = raw.decode(name)
        if "utf-8" in read:
            break
    if not read:
        raise FileProblem("encoding", encoding=marked or encoding)
    name = max(read, key=lambda name: (plausibility(read[name], name), LANGUAGES.get(language) == name))
    if "\0" in read[name]:
        raise FileProblem("binary")
    return read[name], None if marked or name == "utf-8" else name


def plausibility(text: str, encoding: str) -> float:
    """Return the share of usual characters among those that are not ASCII. Those that tables use count twice."""
    codec, last, used = ENCODINGS.get(encoding, ("", 0, ""))
    text = text[:20_000]
    others = re.sub(r"[\0-\x7f]", "", text)
    if codec:
        codes = [char.encode(codec, "ignore") for char in others]
        usual = sum(len(code) == 2 and code[0] <= last for code in codes)
    else:  # European words have such letters alone, or two beside others
        usual = sum(map(len, EUROPEAN_LETTERS.findall(text)))
    return (usual + sum(char in used for char in others)) / max(1, len(others))


def split_lines(text: str, separator: str) -> tuple[list[int], list[list[str]]]:
    """Return the lines at which rows begin, and the rows' cells, without empty rows."""
    if separator == " ":  # several count as one
        text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)
        text = re.sub(r"[ \t]+", " ", text)
    limit = csv.field_size_limit(len(text) + 1)
    try:
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):  # the second if nobody closes a quote
            start, lines, rows, swallowed = 1, [], [], False
            around = separator != " "
            reader = csv.reader(io.StringIO(text), delimiter=separator, quoting=quoting, skipinitialspace=around)
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
    length = max(counts, key=lambda length: counts[length], default=0)
    return length, counts[length] / max(1, sum(counts.values()))


def find_separator(text: str) -> str:
    """Return the separator that gives most rows an equal number of cells, "," if there is only one column."""
    sample = "".join(line for _, line in zip(range(SAMPLE), io.StringIO(text), strict=False))
    for separator in (*SEPARATORS, " "):
        length, share = usual_length(split_lines(sample, separator)[1])
        if length > 1 and share >= (0.8 if separator != " " else 0.95):
            return separator
    return ","


@dataclass
class Table:
    """Rows of cells under names. lines: where each row begins in the file. encoding: None for Unicode."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    separator: str
    encoding: str | None
    notes: list[Note]

    def texts(self, column: int) -> list[str]:
        """Return the cells of a column."""
        return [row[column] for row in self.rows]

    def sample(self, column: int) -> list[str]:
        """Return some cells of a column that are not missing."""
        step = max(1, len(self.rows) // SAMPLE)
        return [row[column] for row in self.rows[::step] if not is_missing(row[column])]

    def first(self, places: list[int], column: int) -> dict[str, Any]:
        """Return the values of a note about these rows: their number, and the line and the cell of the first."""
        k = places[0] if places else 0
        return {"count": len(places), "line": self.lines[k], "cell": self.rows[k][column][:40]}

    def numbers(self, column: int) -> list[float | None]:
        """Return the numbers of a column: nan for missing ones, None for cells that have no number."""
        return parse_numbers(self.texts(column), self.decimals[column][0])

    def present(self, column: int) -> list[float]:
        """Return the numbers of a column that are there."""
        return [number for number in self.numbers(column) if number is not None and not math.isnan(number)]

    def is_numeric(self, column: int) -> bool:
        """Return True if most cells of a column that are not missing are numbers."""
        sample = self.sample(column)
        found = [number for number in parse_numbers(sample, self.decimals[column][0]) if number is not None]
        return len(found) >= max(1, 0.8 * len(sample))

    @cached_property
    def decimals(self) -> list[tuple[str, str]]:
        """The decimal sign of each column, and a number that would be another with the other sign, or ""."""
        columns = range(len(self.names))
        sure = [sure_decimal(self.sample(k)) or sure_decimal(self.texts(k)) for k in columns]
        return [(sure[k], "") if sure[k] else self.guess_decimal(k, {*sure} - {""}) for k in columns]

    def guess_decimal(self, column: int, others: set[str]) -> tuple[str, str]:
        """Return what `decimals` has, from the signs of other columns, from jumps, or from customs of countries."""
        numbers = [match[1].strip() for match in map(NUMBER.fullmatch, self.texts(column)) if match]
        cell = next(filter(UNSURE.fullmatch, numbers), "")
        if not cell:
            return ".", ""
        mark, other = ".," if "." in cell else ",."
        if len(others) == 1:
            return min(others), ""
        numbers = [number for number in numbers if number.strip("-+0")]
        plain = [match[1] for match in map(UNMARKED.fullmatch, numbers) if match]
        if any(len(digits) > 3 for digits in plain):  # as thousands they would have a mark
            return mark, ""
        european = any(map(EUROPEAN.match, self.rows[len(self.rows) // 2]))
        hinted = european or self.separator == ";"  # such files have decimal commas
        if plain:
            factor = 2.0 if (mark == ",") != hinted else 0.5  # customs decide unless jumps differ by more
            return other if jump(numbers, other) <= factor * jump(numbers, mark) else mark, cell
        if mark == ",":
            return (mark, "") if hinted else (other, cell)
        return other if european else mark, cell if hinted else ""


def jump(numbers: list[str], decimal: str) -> float:
    """Return the sum of jumps between neighbours of which one has a mark, in ranges of the numbers."""
    values = [(to_number(number, decimal) or 0.0, not UNMARKED.fullmatch(number)) for number in numbers]
    jumps = [abs(b - a) for (a, marked), (b, next_marked) in zip(values, values[1:]) if marked != next_marked]
    return sum(jumps) / ((max(values)[0] - min(values)[0]) or 1.0)


def sure_decimal(texts: Sequence[str]) -> str:
    """Return the decimal sign that numbers must have, "" if they may have either."""
    votes: Counter[str] = Counter()
    for match in map(NUMBER.fullmatch, texts):
        digits = match[1].strip() if match else ""
        marks = re.sub(r"[^.,]", "", digits)
        if len(marks) > 1:  # the last is the decimal sign if it is there once
            sign = marks[-1] if marks.count(marks[-1]) == 1 else ".,"[marks[-1] == "."]
            votes[sign] += 10 * bool(THOUSANDS[sign].fullmatch(digits))
        elif marks and not UNSURE.fullmatch(digits):
            votes[marks] += 1
    return max(votes, key=lambda sign: votes[sign]) if any(votes.values()) else ""


def parse_numbers(texts: Sequence[str], decimal: str = "") -> list[float | None]:
    """Return the numbers in cells: nan for a missing one, None for a cell without a number, or with another unit."""
    decimal = decimal or sure_decimal(texts) or "."
    matches = [*map(NUMBER.fullmatch, texts)]
    units = Counter(match[2] for match in matches if match)
    unit = max(units, key=lambda unit: units[unit], default="")
    return [
        math.nan if is_missing(text) else to_number(match[1], decimal) if match and match[2] in ("", unit) else None
        for text, match in zip(texts, matches, strict=True)
    ]


def find_names(rows: list[list[str]]) -> bool:
    """Return whether the first row has names: one of its cells is a word where numbers or times follow.

    In a table without numbers and times, it has names if none of its cells comes again below.
    """
    first, body, has_values = rows[0], rows[1 : SAMPLE + 1], False
    for k, cell in enumerate(first):
        below = [row[k] for row in body if not is_missing(row[k])]
        numbers = sum(number is not None for number in parse_numbers(below))
        times = sum(map(looks_like_time, below))
        if below and not is_missing(cell) and max(numbers, times) >= 0.5 * len(below):
            has_values = True
            if parse_numbers([cell]) == [None] and not looks_like_time(cell):
                return True
    return not has_values and all(cell and cell not in {row[k] for row in body} for k, cell in enumerate(first))


def unique(names: list[str]) -> list[str]:
    """Return names of columns of which each is there once and none is empty."""
    names = [name or str(k) for k, name in enumerate(names, 1)]
    counts = [names[: k + 1].count(name) for k, name in enumerate(names)]
    return [name if count == 1 else f"{name} ({count})" for name, count in zip(names, counts, strict=True)]


def read_table(raw: bytes, encoding: str | None, language: str | None) -> Table:
    """Return the table in the bytes of a file. Raise FileProblem if there is none."""
    text, encoding = decode(raw, encoding, language_of(language))
    notes = [note("encoding", encoding=encoding)] if encoding else []
    if not text.strip():
        raise FileProblem("empty")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    told = SEPARATOR_LINE.match(text)
    separator = told[1] if told else find_separator(text)
    lines, rows = split_lines(SEPARATOR_LINE.sub("\n", text, count=1) if told else text, separator)
    if not rows:
        raise FileProblem("empty")
    length, _ = usual_length(rows[: 4 * SAMPLE])
    first = next(k for k, row in enumerate(rows) if len(row) in (length, length - 1) and any(row))
    if len(rows[first]) < length and is_title(rows[first + 1 :], length):
        first = next(k for k, row in enumerate(rows) if len(row) == length)
    above, lines, rows = first, lines[first:], rows[first:]
    if len(rows[0]) == length - 1 and len(rows) > 1:
        full = [row for row in rows if len(row) == length]
        if not any(row[-1] for row in full[:SAMPLE]):  # a separator ends each line
            rows, length = [row[: length - 1] for row in rows], length - 1
        elif separator == "," and all(row[-1].isdigit() and re.fullmatch(r"[-+]?\d+", row[-2]) for row in full):
            length -= 1  # the last two cells are one number with a decimal comma
            rows = [[*row[: length - 1], ",".join(row[length - 1 :])] if len(row) > length else row for row in rows]
        else:
            rows[0] = ["", *rows[0]]  # R names the rows, but not their column
    rows = [row if any(row[length:]) else row[:length] for row in rows]
    wrong = [line for line, row in zip(lines, rows, strict=True) if len(row) != length]
    lines = [line for line, row in zip(lines, rows, strict=True) if len(row) == length]
    rows = [row for row in rows if len(row) == length]
    titles = count_titles(rows)
    lines, rows = lines[titles:], rows[titles:]
    if above + titles:
        notes.append(note("above", count=above + titles))
    if wrong:
        notes.append(note("length", count=len(wrong), line=wrong[0], columns=length))
    has_names = len(rows) > 1 and find_names(rows)
    names = rows[0] if has_names else [""] * length
    lines, rows = lines[has_names:], rows[has_names:]
    if len(rows) > MAX_ROWS:
        notes.append(note("rows", count=f"{len(rows):,}", kept=f"{MAX_ROWS:,}"))
    return Table(unique(names), rows[:MAX_ROWS], lines[:MAX_ROWS], separator, encoding, notes)


def count_titles(rows: list[list[str]]) -> int:
    """Return how many rows are titles, with few filled cells, above the names."""
    filled = [len(row) - row.count("") for row in rows[:SAMPLE]]
    usual = median_low(filled or [0])
    first = next((k for k, count in enumerate(filled) if count >= 0.6 * usual), 0)
    return first if first and find_names(rows[first:]) else 0


def is_title(below: list[list[str]], length: int) -> bool:
    """Return whether a short row is a title: another one follows, or the names."""
    full = [row for row in below if len(row) == length]
    return not full or len(below[0]) != length or find_names(full)

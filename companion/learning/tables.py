"""Rows of a table in a text file, as pandas, R and spreadsheets write them: separators, quotes, numbers."""

import csv
import io
import math
import re
from pathlib import Path
from typing import NamedTuple

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
# spreadsheets write and read such a first line
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ ]*(?:\r\n|\r|\n)')
FIRST_RECORD = re.compile(r'[\r\n ]*((?:"[^"]*"|[^"\r\n])*)')
THOUSANDS = re.compile(r"[-+]?\d{1,3}([.,'’ \u00a0\u202f]\d{3})+([.,]\d*)?")
SEVERAL = re.compile(r"[-+]?\d[\d.,]*(?:[ |]+[-+]?\d[\d.,]*)+")
OTHER_DECIMAL = re.compile(r"[-+]?\d*[.,]\d+([eE][-+]?\d+)?|[-+]?\d+[.,]")
DATE = re.compile(r"\d{4}-\d|\d{1,2}[./]\d{1,2}[./]\d{2}|\d{4}/\d")
MISSING = ("", "NA", "NaN", "nan", "N/A", "#N/A")


class Row(NamedTuple):
    """The cells of a row, without blanks around them, and the line of the file in which it begins."""

    line: int
    cells: list[str]


def find_separator(path: str | Path, text: str, default: str = ",") -> str:
    """Return the separator of a table: that of its line `sep=…`, or the one in its first row, outside quotes.

    default: for a first row without any. ValueError if the first row has several of comma, semicolon and tab.
    """
    if told := SEPARATOR_LINE.match(text):
        return told[1]
    first = FIRST_RECORD.match(text)
    outside = re.sub(r'"[^"]*"', "", first[1] if first else "")
    found = [separator for separator in SEPARATORS if separator in outside]
    if len(found) > 1:
        raise ValueError(
            f"{str(path)!r}, line 1 has {' and '.join(f'{SEPARATORS[s]}s' for s in found)}: say which of them separates"
            f" the columns, {' or '.join(f'separator={s!r}' for s in found)}"
        )
    if not found and first and re.search(r'" +"', first[1]):  # R's write.table
        return " "
    return found[0] if found else default


def read_rows(
    path: str | Path, text: str, separator: str, quotes: bool | None = None, least: int = 1, advice: str = ""
) -> list[Row]:
    r"""Return the rows of a table, without empty lines, empty rows at its ends, and a last column that is empty.

    text: the content of the file `path`, which is named in errors. separator: one character. quotes: True for
    cells in double quotes, which may contain separators, line breaks and doubled quotes; False if quotes are a part of
    the cells; None as True, but a cell of several lines is refused if each of them could be a row between tabs. least:
    columns that are kept although they are empty. advice: what else to do, if quotes do not fit.

    ValueError, with the line, for quotes that do not fit, and for another separator.
    """
    if len(separator) != 1 or separator in '"\r\n':
        raise ValueError(f"separator must be one character, such as ',' ';' or '\\t', not {separator!r}")
    lines = list(io.StringIO(text, newline=""))
    skipped = 1 if SEPARATOR_LINE.match(text) else 0
    reader = csv.reader(
        lines[skipped:],
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_NONE if quotes is False else csv.QUOTE_MINIMAL,
        skipinitialspace=separator != " ",
    )
    rows, start = [], skipped + 1
    limit = csv.field_size_limit(len(text) + 1)  # its default refuses long texts
    try:
        for cells in reader:
            end = reader.line_num + skipped
            # a record with complete rows inside: its quote may open a text, not a cell
            if separator == "\t" and quotes is None and start < end:
                counts = {line.count(separator) for line in lines[start - 1 : end]}
                if counts == {len(cells) - 1}:
                    raise csv.Error(f"the cell that it opens ends in line {end}")
            cells = [cell.strip() for cell in cells]
            if len(cells) > 1 or any(cells):
                rows.append(Row(start, cells))
            start = end + 1
    except csv.Error as error:
        if separator not in text:
            advice = f". There is no {separator!r} in the file: give its `separator`"
        raise ValueError(
            f"{str(path)!r}, line {start}: a quote does not enclose a whole cell between separators {separator!r}"
            f" ({error}). Close it, and double quotes inside a cell{advice}"
        ) from None
    finally:
        csv.field_size_limit(limit)
    full = [k for k, row in enumerate(rows) if any(row.cells)]
    rows = rows[full[0] : full[-1] + 1] if full else []
    while rows and len({len(row.cells) for row in rows}) == 1 and len(rows[0].cells) > least:
        if any(row.cells[-1] for row in rows):
            break
        rows = [Row(row.line, row.cells[:-1]) for row in rows]
    return rows


def split_names(path: str | Path, rows: list[Row], header: bool | None, decimal: str) -> tuple[list[str], list[Row]]:
    """Return the names of the columns, and the rows below them, each with a cell for every name.

    header: whether the first row has the names; None to look. decimal: the decimal sign. ValueError, with the line, for
    a first row that looks like numbers, no rows below it, and a row of another length.
    """
    first, *below = rows
    names = first.cells
    numbers = [name for name in names if math.isfinite(parse_number(name, decimal))]
    pandas = [""] + [str(k) for k in range(len(names) - 1)]  # of an array
    if header is None and numbers and names != pandas:
        # 12.8 is no name; 2012 may be one
        others = [name for name in names if name not in numbers and not DATE.match(name) and name not in MISSING]
        if not others or not all(name.isdigit() for name in numbers):
            raise ValueError(
                f"{str(path)!r}, line {first.line}: {numbers[0]!r} is a number in the place of a name. If the file has"
                " no line of names, give header=False; if they are names, header=True"
            )
    if header is False:
        names, below = [str(k) for k in range(len(names))], rows
    if not below:
        raise ValueError(f"{str(path)!r} has a line of names, and no numbers below it")
    if not names[0] and not below[0].cells[0] and all(row.cells[0] for row in below[1:]) and len(below) > 1:
        raise ValueError(
            f"{str(path)!r}, line {below[0].line} begins with an empty cell. If it is a second line of names, keep"
            " one of them"
        )
    for row in below:
        if len(row.cells) == len(names) + 1 and not row.cells[-1]:  # a separator at the end of the line
            row.cells.pop()
        if len(row.cells) != len(names):
            why = "If it is a comment, delete it. If the file is cut off, get it again. Otherwise give `separator`"
            if len(row.cells) > len(names):
                why = (
                    f"If line {first.line} is a title or a comment, delete it. Name the first column too, if it has"
                    " names of rows (in R with col.names=NA); put numbers with commas into quotes, or give `separator`"
                )
            raise ValueError(f"{str(path)!r}, line {row.line}: {len(row.cells)} values for {len(names)} columns. {why}")
    return names, below


def is_index(names: list[str], rows: list[Row]) -> bool:
    """Return True if the first column has no name, and numbers or names the rows, as pandas and R write it."""
    if names[0] and not names[0].startswith("Unnamed: "):  # pandas calls it so if it reads its own file
        return False
    values = [row.cells[0] for row in rows]
    return not any(math.isfinite(parse_number(value)) and not value.isdigit() for value in values) and (
        len({*values}) == len(values)
    )


def parse_number(text: str, decimal: str = ".") -> float:
    """Return the number that a text represents, nan if none: without thousands separators, with this decimal sign."""
    if decimal == ",":
        text = text.replace(".", "_").replace(",", ".")
    try:
        # Python reads 1_000
        return math.nan if "_" in text else float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return math.nan


def problem_of(text: str, decimal: str = ".") -> str:
    """Return why a text is not a finite number, and what to do."""
    other = "," if decimal == "." else "."
    if not text:
        problem = "a value is missing"
    elif THOUSANDS.fullmatch(text):
        problem = f"{text!r} has thousands separators: write numbers without them"
        if text.count(other) == 1 and decimal not in text:
            problem += f". If they are decimal signs, give decimal={other!r}"
    elif OTHER_DECIMAL.fullmatch(text) and other in text:
        problem = f"{text!r} is not a finite number with the decimal sign {decimal!r}. Give decimal={other!r}"
    elif SEVERAL.fullmatch(text):
        problem = f"{text!r} is not a finite number but several. Give what is between them as `separator`"
    else:
        problem = f"{text!r} is not a finite number"
    return f"{problem}. Name the columns to read, or mend the file"

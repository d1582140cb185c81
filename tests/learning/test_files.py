"""Tests of readers' own files as pandas, R, Excel and Google Sheets write them: read rightly, or refused by name."""

import gzip

import pytest

from companion.learning.examples import load_examples
from companion.learning.series import load_series
from companion.learning.vectors import load_vectors

DAYS = [f"2012-01-{day:02}" for day in range(1, 4)]
LOW, HIGH = (1.5, -2.0, 3000.0), (7.0, 8.25, 9e5)
VALUES = [list(pair) for pair in zip(LOW, HIGH, strict=True)]
GOOD, BAD = ("good, very", "pos"), ('so "bad"', "neg")
LABELLED = [GOOD, BAD, GOOD, BAD]


def table(
    sep=",",
    names=("day", "low", "high"),
    days=DAYS,
    decimal=".",
    index=None,
    quote="",
    end="\n",
    encoding="utf-8",
    before="",
    after="",
    tail="",
):
    """Return the bytes of a table as a program writes it: the days and two columns of numbers."""
    rows = [[day, *(str(value).replace(".", decimal) for value in row)] for day, row in zip(days, VALUES, strict=False)]
    if index is not None:
        rows = [[str(k + index), *row] for k, row in enumerate(rows)]
        names = ["", *names]
    lines = [*([] if names is None else [names]), *rows]
    text = end.join(sep.join(f"{quote}{cell}{quote}" for cell in line) + tail for line in lines)
    return (before + text + end + after).encode(encoding)


def cell(text, sep=","):
    """Return a table with one cell of another text, in its third row."""
    return table(sep).replace(b"-2.0", text.encode())


def labelled(sep="\t", rows=LABELLED, index=False, names=("text", "label"), quoted=True, encoding="utf-8"):
    """Return the bytes of a table of texts and labels; with `quoted`, texts are quoted as the csv module does."""

    def written(text):
        return '"' + text.replace('"', '""') + '"' if quoted and set(text) & {sep, '"', "\n"} else text

    lines = [["", *names] if index else names] if names else []
    lines += [[str(k), *row] if index else row for k, row in enumerate(rows)]
    return "".join(sep.join(map(written, line)) + "\r\n" for line in lines).encode(encoding)


TWO = ["low", "high"]
SERIES = {
    # read
    "pandas": (table(), TWO, {}, VALUES),
    "pandas, with an index": (table(index=0, names=TWO, days=DAYS).replace(b",2012-01-0", b",0"), None, {}, None),
    "pandas, dates as an index": (table(names=["", *TWO]), None, {}, VALUES),
    "pandas, read again and written": (table(names=["Unnamed: 0", *TWO]), None, {}, VALUES),
    "pandas, tabs": (table("\t"), None, {"time": "day"}, VALUES),
    "pandas, one column with an index": (b"\ta\n0\t1.5\n1\t2\n", None, {}, [[1.5], [2]]),
    "R's write.csv": (table(index=1, quote='"'), None, {"time": "day"}, VALUES),
    "R's write.csv2": (table(";", decimal=",", index=1, quote='"'), TWO, {"decimal": ","}, VALUES),
    "Excel, German": (table(";", decimal=",", end="\r\n", encoding="cp1252"), TWO, {"decimal": ","}, VALUES),
    "Excel, CSV UTF-8": (table(end="\r\n", encoding="utf-8-sig"), TWO, {}, VALUES),
    "Excel, text in Unicode": (table("\t", end="\r\n", encoding="utf-16"), TWO, {}, VALUES),
    "pandas, an array": (b",0,1\n0,1.5,2\n1,3,4\n", None, {}, [[1.5, 2], [3, 4]]),
    "pandas, dates as an index, checked": (table(names=["", *TWO]), None, {"time": ""}, VALUES),
    "R's write.table, no row names": (table(" ", quote='"'), TWO, {}, VALUES),
    "Excel, empty rows first": (table(before=",,\r\n\r\n"), TWO, {}, VALUES),
    "signs of Unicode": (cell("\u22122.0"), TWO, {}, VALUES),
    "UTF-32": (table(encoding="utf-32"), TWO, {}, VALUES),
    "Excel for old Macs": (table(end="\r"), TWO, {}, VALUES),
    "Excel, a line with the separator": (table(";", before="sep=;\r\n", end="\r\n"), TWO, {}, VALUES),
    "Excel, empty column and rows": (table(tail=",", after=",,,\r\n,,,\r\n", end="\r\n"), TWO, {}, VALUES),
    "separators after rows only": (table(tail=",").replace(b"high,", b"high"), TWO, {}, VALUES),
    "Latin-1": (table(names=("Tag", "Kälte", "Wärme"), encoding="latin-1"), "Wärme", {"encoding": "latin-1"}, HIGH),
    "UTF-16 without a mark": (table(encoding="utf-16-le"), "low", {"encoding": "utf-16-le"}, LOW),
    "blanks after commas": (table(", ", quote='"'), TWO, {}, VALUES),
    "separators in names": (table(";", names=("day", '"low, °C"', '"high; ""°C"""')), 'high; "°C"', {}, HIGH),
    "line breaks in names": (table(names=("day", "low", '"high\n°C"')), "high\n°C", {}, HIGH),
    "notes with commas, quotes, lines": (table(days=['"a, b"', '"c ""d"""', '"e\r\nf"']), TWO, {}, VALUES),
    "notes with line separators": (table(days=["a\u2028b", "c\x85d", "e\x0cf"]), TWO, {}, VALUES),
    "decimal commas in quotes": (b'a,b\n"1,5","2"\n', None, {"decimal": ","}, [[1.5, 2]]),
    "decimal commas, one column": (b"a\n1,5\n2\n", None, {"decimal": ","}, [[1.5], [2]]),
    "no names": (b"1,2\n3,4\n", None, {"header": False}, [[1, 2], [3, 4]]),
    "no names, by number": (table(names=None), ["2", "1"], {"header": False}, [row[::-1] for row in VALUES]),
    "names are years": (b",2012,2013\na,1,2\n", None, {"header": True}, [[1, 2]]),
    "another separator": (table("|"), TWO, {"separator": "|"}, VALUES),
    "columns separated by blanks": (b"a b\n1 2\n", None, {"separator": " "}, [[1, 2]]),
    "numbers with three digits": (b"a;b\n1.234;0.5\n", None, {"decimal": "."}, [[1.234, 0.5]]),
    # refused
    "no names, unsaid": (b"1,2\n3,4\n5,6\n", None, {}, "line 1: '1' is a number in the place of a name.*header=False"),
    "no names but a date": (table(names=None), None, {}, "line 1: '1.5' is a number in the place of a name"),
    "no names but a date, whole numbers": (
        b"2012-01-01,3\n2012-01-02,4\n",
        "3",
        {},
        "line 1: '3' is a number in the pl",
    ),
    "no names but a text": (b"Mon,1.5\nTue,2\n", "1.5", {}, "line 1: '1.5' is a number in the place of a name"),
    "names are years, unsaid": (b",2012,2013\na,1,2\n", None, {}, "line 1: '2012' is a number.*header=True"),
    "two separators": (b"day;low, C\n1;2\n", None, {}, r"line 1 has commas and semicolons.*separator=','"),
    "no separator": (b"a|b\n1|2\n", None, {}, r"line 2, column 'a\|b': '1\|2' is not a finite number"),
    "wrong separator": (table(";"), None, {"separator": ";;"}, "separator must be one character"),
    "R's write.table": (
        table("\t", quote='"', index=1).replace(b'""\t', b""),
        None,
        {},
        "4 values for 3.*col.names=NA",
    ),
    "R's write.table, blanks": (b'"a" "b"\n"1" 1 2\n', None, {}, "line 2: 3 values for 2 columns.*col.names=NA"),
    "blanks between columns": (b"a b\n1 2\n", None, {}, "line 2, column 'a b': '1 2' is not.*`separator`"),
    "only separators": (b",,\n,,\n", None, {}, "has rows, but nothing in them"),
    "quote not closed": (table(days=["a", '"b', "c"]), TWO, {}, "line 3: a quote does not enclose a whole cell"),
    "quote not doubled": (table(days=["a", '"b" c', "c"]), TWO, {}, "line 3: a quote does not enclose a whole cell"),
    "decimal comma": (cell("-2,0", ";"), TWO, {}, "line 3, column 'low': '-2,0' is not.*decimal=','"),
    "decimal comma, unquoted": (cell("-2,0"), TWO, {}, "line 3: 4 values for 3 columns.*into quotes"),
    "decimal point": (cell("-2.0", ";"), TWO, {"decimal": ","}, "line 2, column 'low': '1.5' is not.*decimal='.'"),
    "thousands": (cell('"1,234"'), TWO, {}, "line 3, column 'low': '1,234' has thousands.*decimal=','"),
    "thousands and decimals": (cell('"1,234.5"'), TWO, {}, "line 3, column 'low': '1,234.5' has thousands separators"),
    "German thousands": (b"a;b\n1.234,5;1\n", None, {"decimal": ","}, "line 2, column 'a': '1.234,5' has thousands"),
    "German thousands, unsaid": (
        b"a;b\n1;2\n1.234;3\n",
        None,
        {},
        "line 3, column 'a': '1.234' has a decimal point or",
    ),
    "Swiss thousands": (cell("1'234"), TWO, {}, "line 3, column 'low': \"1'234\" has thousands separators"),
    "French thousands": (
        "a;b\n1\u202f234,5;1\n".encode(),
        None,
        {"decimal": ","},
        "line 2, column 'a': '1.u202f234,5' has thousands",
    ),
    "Python's thousands": (cell("1_000"), TWO, {}, "line 3, column 'low': '1_000' is not a finite number"),
    "percent": (cell("5%"), TWO, {}, "line 3, column 'low': '5%' is not a finite number"),
    "R's missing value": (cell("NA"), TWO, {}, "line 3, column 'low': 'NA' is not a finite number"),
    "pandas' missing value": (cell(""), TWO, {}, "line 3, column 'low': a value is missing"),
    "Excel's missing value": (cell("#N/A"), TWO, {}, "line 3, column 'low': '#N/A' is not a finite number"),
    "infinite": (cell("inf"), TWO, {}, "line 3, column 'low': 'inf' is not a finite number"),
    "empty row": (table(after=",,\n2012-01-04,1,2\n"), TWO, {}, "line 5, column 'low': a value is missing"),
    "another encoding": (table(names=("é", *TWO), encoding="cp1252"), TWO, {}, r"UTF-8 \(line 1.*encoding='cp1252'"),
    "unknown encoding": (table(), TWO, {"encoding": "ansi1"}, "encoding='ansi1' is unknown"),
    "UTF-16 without a mark, unsaid": (
        table(encoding="utf-16-le"),
        TWO,
        {},
        "line 1 contains NUL.*encoding='utf-16-le'",
    ),
    "gzip": (gzip.compress(table()), TWO, {}, "is compressed by gzip. Unpack it"),
    "Excel's workbook": (b"PK\x03\x04\x14\0", TWO, {}, "is a zip archive or an Excel workbook"),
    "no columns": (table(), [], {}, "no column of .*: name one"),
    "only an index": (b",a\n0,1\n1,2\n", None, {"time": "a"}, "no column of .*: name one"),
    "pandas, two lines of names": (b",a,b\n,2024,2025\n0,1,2\n1,3,4\n", "a", {}, "line 2 begins with an empty cell"),
    "a title above the names": (table(before="Low,,\n"), TWO, {}, "line 1: 0 columns.*of 'Low', '', ''.*delete titles"),
    "a comment above the names": (table(before="# mine\n"), TWO, {}, "line 2: 3 values for 1.*If line 1 is.*a comment"),
    "a comment below": (
        table(after="# end\n"),
        TWO,
        {},
        "line 5: 1 values for 3 columns. If it is a comment, delete it",
    ),
    "column by number": (table(), [0], {}, "line 1: 0 columns are called 0, of 'day', 'low'"),
    "column without a name": (
        table(names=("day", "", "high"), days=(1, 2, 3)),
        None,
        {},
        "line 1: a column has no name",
    ),
    "first column without a name": (b",a\n1.5,1\n1.7,2\n", None, {}, "line 1: a column has no name"),
    "repeated first column without a name": (b",a\n5,1\n5,2\n", None, {}, "line 1: a column has no name"),
    "unknown decimal sign": (table(), TWO, {"decimal": "·"}, "decimal must be"),
    "unknown time": (table(), TWO, {"time": "date"}, "line 1: 0 columns are called 'date'"),
}
SERIES["pandas, with an index"] = (table(index=0, days=(5, 6, 7)), None, {}, [[k + 5, *VALUES[k]] for k in range(3)])


@pytest.mark.parametrize(("raw", "columns", "options", "expected"), SERIES.values(), ids=SERIES)
def test_series_as_programs_write_them(tmp_path, raw, columns, options, expected):
    path = tmp_path / "mine.csv"
    path.write_bytes(raw)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            load_series(path, columns, **options)
    else:
        expected = [[value] for value in expected] if isinstance(expected, tuple) else expected
        assert load_series(path, columns, **options).tolist() == expected


TIMES = {
    "days": ("2012-02-28 2012-02-29 2012-03-01", None),
    "days without dashes": ("20120229 20120301 20120302", None),
    "months without dashes": ("201111 201112 201201", None),
    "hours without dashes": ("2012022822 2012022823 2012022900", None),
    "numbers of six digits": ("201211 201212 201213", None),
    "hours": ("2012-02-28T23:00Z 2012-02-29T00:00Z 2012-02-29T01:00Z", None),
    "hours over the change of clocks": ("2012-03-25T01:00+01:00 2012-03-25T03:00+02:00 2012-03-25T04:00+02:00", None),
    "months": ("2012-01 2012-02 2012-03", None),
    "ends of months": ("2011-12-31 2012-01-31 2012-02-29 2012-03-31", None),
    "quarters": ("2012-01-01 2012-04-01 2012-07-01", None),
    "years": ("2011 2012 2013", None),
    "German dates": ("01.01.2012 02.01.2012 03.01.2012", None),
    "American dates": ("1/30/2012 1/31/2012 2/1/2012", None),
    "British dates": ("30/01/2012 31/01/2012 01/02/2012", None),
    "Japanese dates": ("2012/1/31 2012/2/1 2012/2/2", None),
    "rounded seconds": ("0.1 0.2 0.30000000000000004", None),
    "seconds since 1970": ("1325376000 1325379600 1325383200", None),
    "newest first": (
        "2012-01-02 2012-01-01",
        "line 3, column 't': time runs backwards, '2012-01-01' after '2012-01-02'",
    ),
    "doubled": ("2012-01-01 2012-01-01 2012-01-02", "line 3, column 't': '2012-01-01' comes twice"),
    "gap": ("2012-01-01 2012-01-02 2012-01-05 2012-01-06", "line 4, column 't': there is a gap.* 3 times the usual"),
    "gap of a month": ("2012-01 2012-02 2012-04 2012-05", "line 4, column 't': there is a gap.* 2 times the usual"),
    "early": ("0 2 4 5 7", "line 5, column 't': a step is too short"),
    "clocks set forward": ("2012-03-25T00:00 2012-03-25T01:00 2012-03-25T03:00 2012-03-25T04:00", "line 4.*a gap"),
    "day or month first": ("1/2/2012 2/2/2012 3/2/2012", "line 2, column 't': '1/2/2012'.*the day or the month first"),
    "two forms": ("2012-01-01 02.01.2012", "line 3, column 't': '02.01.2012' cannot be read as a time, like '2012"),
    "two zones": ("2012-01-01T00:00 2012-01-01T01:00Z", "line 3, column 't': some times have a time zone"),
    "no time": ("Mon Tue", "line 2, column 't': 'Mon' cannot be read as a time. Write dates as"),
    "impossible": ("2012-02-28 2012-02-30", "line 3, column 't': '2012-02-30' cannot be read as a time"),
}


@pytest.mark.parametrize(("times", "message"), TIMES.values(), ids=TIMES)
def test_time_is_checked_on_request(tmp_path, times, message):
    path = tmp_path / "mine.csv"
    path.write_text("t,a\n" + "".join(f"{time},{k}\n" for k, time in enumerate(times.split())), encoding="utf-8")
    series = load_series(path, "a")
    if message is None:
        assert load_series(path, time="t").equal(series)
    else:
        with pytest.raises(ValueError, match=f"mine.csv', {message}"):
            load_series(path, time="t")


LONG = ("a" * 200_000, "pos")
EXAMPLES = {
    # read
    "pandas, no index": (labelled(), {}, LABELLED),
    "pandas, with an index": (labelled(index=True), {}, LABELLED),
    "pandas, commas": (labelled(","), {"separator": ","}, LABELLED),
    "Excel, text in Unicode": (labelled(encoding="utf-16"), {}, LABELLED),
    "Latin-1": (
        labelled(rows=[("é", "x"), ("à", "y")], encoding="latin-1"),
        {"encoding": "cp1252"},
        [("é", "x"), ("à", "y")],
    ),
    "columns in another order": (
        labelled(names=("Label", "n", "Text"), rows=[("x", "1", "a"), ("y", "2", "b")]),
        {},
        [("a", "x"), ("b", "y")],
    ),
    "other names": (labelled(names=("review", "stars")), {"header": True}, LABELLED),
    "other names, with an index": (labelled(names=("review", "stars"), index=True), {"header": True}, LABELLED),
    "no names": (labelled(names=None), {}, LABELLED),
    "names that are an example": (labelled(), {"header": False}, [("text", "label"), *LABELLED]),
    "R, all quoted": (b'"text"\t"label"\n"a"\t"x"\n"b"\t"y"\n', {}, [("a", "x"), ("b", "y")]),
    "tabs and lines in a text": (labelled(rows=[("a\tb", "x"), ("c\nd", "y")]), {}, [("a\tb", "x"), ("c\nd", "y")]),
    "Google Sheets, no quotes": (
        labelled(rows=[('"a" b', "x"), BAD], quoted=False),
        {"quotes": False},
        [('"a" b', "x"), BAD],
    ),
    "tabs and lines in a text that could be examples": (
        labelled(rows=[("a\tb\nc", "x"), BAD]),
        {"quotes": True},
        [("a\tb\nc", "x"), BAD],
    ),
    "several labels of a text, no names": (
        b"a\tx\na\ty\na\tz\nb\tx\nb\ty\nb\tz\n",
        {},
        [*zip("aaabbb", "xyzxyz", strict=True)],
    ),
    "quotes inside": (b'a 5" b\tx\nc\ty\n', {}, [('a 5" b', "x"), ("c", "y")]),
    "long texts": (labelled(rows=[LONG, BAD]), {}, [LONG, BAD]),
    "line separators": (labelled(rows=[("a\u2028b", "x"), ("c\x0cd", "y")]), {}, [("a\u2028b", "x"), ("c\x0cd", "y")]),
    # refused
    "names, unsaid": (
        labelled(names=("review", "stars")),
        {},
        "line 1: 'stars' is the label of this line only.*header=True",
    ),
    "names, few labels": (b"review\tsentiment\na\tx\nb\ty\n", {}, "line 1: 'sentiment' is the label of this line only"),
    "an index, no names": (labelled(index=True, names=None), {}, "line 1: the first column numbers the lines"),
    "an index, shuffled": (b"7\ta\tx\n3\tb\ty\n9\tc\tx\n", {}, "line 1: the first column numbers the lines"),
    "names of rows, no names": (b"r7\ta\tx\nr3\tb\ty\nr9\tc\tx\n", {}, "line 1: 'a' is in the place of a label"),
    "labels first": (b"x\ta b\ny\tc\nx\td\ny\tc\n", {}, "line 1: 'a b' is in the place of a label.*Put the text first"),
    "R's write.table": (b"text\tlabel\n1\ta\tx\n2\tb\ty\n", {}, "line 2: 3 columns.*have 2.*Leave out numbers of"),
    "commas": (b"text,label\na,x\nb,y\n", {}, "line 1: no tab in 'text,label'.*separator=','"),
    "commas and quotes": (labelled(","), {}, "line 2: a quote does not.*There is no '.t' in the file: give its `sep"),
    "Google Sheets": (labelled(rows=[('"a" b', "x"), BAD], quoted=False), {}, "line 2: a quote does not.*quotes=False"),
    "a quote over two lines": (b'a\tx\n"b\ty\nc"\tx\nd\ty\n', {}, "line 2: a quote does not enclose.*ends in line 3"),
    "UTF-16 without a mark": (labelled(encoding="utf-16-le"), {}, "line 1 contains NUL"),
    "only names": (labelled(rows=[]), {}, "has a line of names, and no examples below it"),
}


@pytest.mark.parametrize(("raw", "options", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples_as_programs_write_them(tmp_path, raw, options, expected):
    path = tmp_path / "mine.tsv"
    path.write_bytes(raw)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=f"mine.tsv'.*{expected}"):
            load_examples(path, **options)
    else:
        assert [example[:2] for example in load_examples(path, **options)] == expected


VECTORS = {
    "tabs": ("a\t1\t2\n", "line 1: 0 values.*not tabs"),
    "blank and tabs": ("a 1\t2\nb 1 2\n", "line 1 has tabs or double blanks: separate"),
    "double blanks": ("a  1  2\nb  1  2\n", "line 1 has tabs or double blanks: separate"),
    "R's write.table": ('"a" 1 2\n"b" 1 2\n', "line 1: '\"a\"' is in quotes: .*quote=FALSE"),
    "commas": ("a,1,2\n", "line 1: 0 values after 'a,1,2'. Separate them by single blanks"),
    "NUL": ("a 1 2\n\0 1 2\n", "line 2 contains NUL characters"),
    "word2vec's binary format": (
        b"2 2\na " + bytes.fromhex("0000803f00000040") + b"b \xff\xff\0\0",
        "binary format of word2vec",
    ),
    "gzip": (gzip.compress(b"a 1 2\n"), "is compressed by gzip"),
    "damaged first line": ("a 1 x 2\nb 3 4 5\n", "line 1: 'x' is no finite number"),
    "Python's thousands": ("a 1 1_0\nb 1 2\n", "line 1: '1_0' is no finite number"),
}


@pytest.mark.parametrize(("raw", "message"), VECTORS.values(), ids=VECTORS)
def test_vectors_in_other_formats_are_refused_by_name(tmp_path, raw, message):
    path = tmp_path / "mine.vec"
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    with pytest.raises(ValueError, match=f"mine.vec'.*{message}"):
        load_vectors(path, ["a"])

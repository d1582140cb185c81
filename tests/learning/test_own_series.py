"""Test how a reader's own series is read: files as people write them, and what is refused."""

import math
import random
import re
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.learning.own_series import FileProblem, read_csv

N = 120
VALUES = [round(10 + (k * 7 % 11) + k / 8, 2) for k in range(N)]
START = datetime(2024, 1, 31, 22)


def table(form="{t:%Y-%m-%dT%H:%M},{v}", head="time,value\n", step=timedelta(hours=1), end="\n", keep=lambda k: True):
    """Return the text of a file with a line of this form for each value."""
    lines = [
        form.format(k=k, t=START + k * step, v=v, comma=str(v).replace(".", ","), n=round(60 * v), w=round(600 * v))
        for k, v in enumerate(VALUES)
        if keep(k)
    ]
    return head + end.join(lines) + end


EACH_OF_TWO = "".join(f"{START + k * timedelta(hours=1)},{m},{v}\n" for k, v in enumerate(VALUES) for m in "AB")
HALF = table("{t:%d.%m.%Y};{n:,}", "Tag;Stück\n", timedelta(days=1)).replace(",", ".")  # 600 to 2,100
ALL = table("{t:%d.%m.%Y};{w:,}", "Tag;Stück\n", timedelta(days=1)).replace(",", ".")  # 6.000 and more
THREE = table("{t:%Y-%m-%d};{v:.3f}", "t;v\n", timedelta(days=1))
DAX = table('"{t:%d.%m.%Y}","{n:,},25","{v}%"', '"Datum","Zuletzt","Diff"\n', timedelta(days=1))
DAX = re.sub(r'"(\d*),(\d*),25"', r'"\1.\2,25"', DAX)
HOURS = "".join(f"{START + timedelta(days=k // 24):%Y-%m-%d},{k % 24 + 1},{v}\n" for k, v in enumerate(VALUES))
WORDS_OF = {  # language → encoding, names of columns, a date
    "en": ("cp1252", "Größe,°C", "{t:%Y-%m-%d}"),
    "ja": ("cp932", "年月日,気温(℃)", "{t:%Y}年{t:%m}月{t:%d}日"),
    "ko": ("cp949", "날짜,기온", "{t:%Y}년 {t:%m}월 {t:%d}일"),
    "zh": ("gb18030", "日期,气温", "{t:%Y}年{t:%m}月{t:%d}日"),
}
# name → file, options, and what must come out: the first two values if they are not VALUES', columns, notes
READ = {
    "plain": (table(), {}, {"step": 3600, "time": "time"}),
    "BOM and Windows lines": (b"\xef\xbb\xbf" + table(end="\r\n").encode(), {}, {"step": 3600, "time": "time"}),
    "UTF-16": (table(end="\r\n").encode("utf-16"), {}, {"step": 3600}),
    "German": (table("{t:%d.%m.%Y %H:%M};{comma}", "Zeit;Wert\n"), {}, {"step": 3600, "value": "Wert"}),
    "German, no times": (table("{t:%d.%m.%Y %H:%M};{comma}"), {"time": ""}, {"time": None}),
    "tabs": (table("{t:%Y/%m/%d %H:%M}\t{v}", "t\tv\n"), {}, {"step": 3600, "value": "v"}),
    "no header": (table("{v}", ""), {}, {"time": None, "value": "1", "step": 1}),
    "header of one column": (table("{v}", "load\n"), {}, {"value": "load"}),
    "spaces": (table("{t:%Y-%m-%d %H:%M}  {v}", "date clock v\n"), {}, {"step": 3600, "time": "date"}),
    "date and time": (table("{t:%Y-%m-%d},{t:%H:%M},{v}", "date,clock,v\n"), {}, {"step": 3600, "time": "date"}),
    "month first": (table("{t:%m/%d/%Y},{v}", step=timedelta(days=1)), {}, {"step": 86400}),
    "day first": (table("{t:%d/%m/%Y},{v}", step=timedelta(days=1)), {}, {"step": 86400}),
    "afternoons": (table("{t:%m/%d/%Y %I:%M %p},{v}"), {}, {"step": 3600}),
    "Japanese": (table("{t:%Y}年{t:%m}月{t:%d}日 {t:%H:%M},{v}", "日時,温度\n").encode("cp932"), {"language": "ja"},
                 {"step": 3600, "value": "温度", "notes": ["encoding"]}),
    "zones": (table("{t:%Y-%m-%dT%H:%M:%S}+09:00,{v}"), {}, {"step": 3600}),
    "seconds since 1970": ("ts,v\n" + "".join(f"{1.7e9 + 60 * k:.0f},{v}\n" for k, v in enumerate(VALUES)), {},
                           {"step": 60, "kind": "seconds"}),
    "months": ("m,v\n" + "".join(f"{2000 + k // 12}-{k % 12 + 1:02},{v}\n" for k, v in enumerate(VALUES)), {},
               {"step": 1, "kind": "months"}),
    "months, the day second": ("m,v\n" + "".join(f"{k % 12 + 1}/1/{2000 + k // 12},{v}\n"
                               for k, v in enumerate(VALUES)), {}, {"step": 1, "kind": "months"}),
    "German thousands": (table("{t:%d.%m.%Y %H:%M};1.0{comma}", "t;v\n"), {}, {"first": 1010.0}),
    "quarters": ("q,v\n" + "".join(f"{2000 + k // 4}-Q{k % 4 + 1},{v}\n" for k, v in enumerate(VALUES)), {},
                 {"step": 3, "kind": "months"}),
    "short months": ("m,v\n" + "".join(f"{datetime(2000 + k // 12, k % 12 + 1, 1):%b-%y},{v}\n"
                     for k, v in enumerate(VALUES)), {}, {"step": 1, "kind": "months"}),
    "columns of dates": (table("{t:%Y},{t:%m},{t:%d},{v}", "YEAR,MO,DY,T2M\n", timedelta(days=1)), {},
                         {"step": 86400, "value": "T2M", "time": "YEAR"}),
    "times of day": (table("{t:%H:%M:%S},{v}", step=timedelta(minutes=20)), {}, {"step": 1200}),
    "two decimal signs": (table("{t:%Y-%m-%d %H:%M};{v}", "t;v\n") + "2024-02-05 22:00;20,09\n", {},
                          {"count": N + 1, "notes": []}),
    "row numbers": (table("{k},{v}", ",value\n"), {}, {"time": None, "value": "value"}),
    "units": (table("{t:%Y-%m-%d %H:%M},{v} °C"), {}, {}),
    "thousands": (table('{t:%Y-%m-%d %H:%M},"1,0{v}"'), {}, {"first": 1010.0}),
    "titles": (table(head="Report\nStation 7\n\ntime,value\n"), {}, {"notes": ["above"]}),
    "title of a spreadsheet": (table(head="Report,\ntime,value\n"), {}, {"notes": ["above"]}),
    "wrong rows": (table() + "end of file\n", {}, {"notes": ["length"]}),
    "missing": (table().replace(f",{VALUES[5]}\n", ",NA\n", 1).replace(f",{VALUES[9]}\n", ",oops\n", 1), {},
                {"notes": ["wrong", "missing", "filled"], "count": N - 2}),
    "a code": (table(keep=lambda k: k % 40) + "2024-01-31T22:00,-999\n", {},
               {"notes": ["code", "missing", "sorted", "filled"],
                                                                             "count": N - 3, "first": VALUES[1]}),
    "newest first": ("\n".join(["t,v", *reversed(table(head="").splitlines())]), {}, {"notes": ["sorted"]}),
    "two machines": ("time,machine,value\n" + EACH_OF_TWO, {}, {"machine": "machine", "count": 2 * N, "pieces": 2}),
    "machines of another name": ("time,wer,value\n" + EACH_OF_TWO, {}, {"machine": "wer", "count": 2 * N}),
    "a gap": (table(keep=lambda k: not 50 < k < 60), {}, {"notes": ["gaps"], "pieces": 2, "count": N - 9}),
    "short gaps": (table(keep=lambda k: k % 50 != 3), {}, {"notes": ["filled"], "pieces": 1, "count": N - 3}),
    "half with thousands": (HALF, {}, {"first": 600, "notes": ["thousands"]}),
    "all with thousands": (ALL, {}, {"first": 6000, "notes": ["thousands"]}),
    "tabs and thousands": (table("{t:%m/%d/%Y}\t{n:,}", "t\tv\n", timedelta(days=1)), {},
                           {"first": 600, "notes": ["thousands"]}),
    "quotes and thousands": (table('{t:%Y-%m-%d},"{w:,}"', step=timedelta(days=1)), {},
                             {"first": 6000, "notes": ["thousands"]}),
    "decimals beside thousands": (table("{t:%d.%m.%Y};{w:,};3,5", "t;a;b\n").replace(",0", ".0"), {"time": ""},
                                  {"first": 6000.0, "time": None}),
    "three decimals": (THREE.replace(";", ","), {}, {}),
    "three decimals and semicolons": (THREE, {}, {"notes": ["decimals"]}),
    "three decimals, German": (THREE.replace(".", ","), {}, {}),
    "three decimals near 2": ("v\n" + "2\n1.998\n2.003\n0\n" * 30, {},
                              {"first": 2, "time": None, "notes": ["decimals"]}),
    "three decimals, some whole": ("v\n" + "1.998\n5\n2.003\n2\n" * 30, {},
                                   {"first": 1.998, "time": None, "notes": ["decimals"]}),
    "1234, so no thousands": ("v\n" + "1234\n5.123\n" * 60, {}, {"first": 1234, "time": None}),
    "German between commas, thousands": (DAX, {}, {"first": 600.25, "value": "Zuletzt"}),
    "German between commas, other sign": (DAX, {"value": "Diff"}, {"value": "Diff"}),
    "wide titles": (table("{t:%d.%m.%Y};{t:%H:%M};{comma};", "Köln;;;\nvom 03.02.2024;;;\n\nTag;Zeit;Grad;Rest\n") +
                    "Mittel;;6,1;\n", {}, {"value": "Grad", "time": "Tag", "notes": ["above", "no_time"]}),
    "names again, and units": (table("{t:%Y-%m-%d %H:%M},{v}", "t,v\nUTC,hPa\n") + "t,v\n", {}, {"notes": ["no_time"]}),
    "an empty first cell": ("t,v,w\n,,\n" + table("{t},{v},1", ""), {}, {"value": "v"}),
    "years of the last century": ("m,v\n" + "".join(f"{datetime(1949 + k // 12, k % 12 + 1, 1):%b-%y},{v}\n"
                                  for k, v in enumerate(VALUES)), {}, {"kind": "months", "when": "1949-01"}),
    "years until the next": ("m,v\n" + "".join(f"{datetime(date.today().year - 8 + k // 12, k % 12 + 1, 1):%b-%y},{v}\n"
                             for k, v in enumerate(VALUES)), {}, {"when": f"{date.today().year - 8}-01"}),
    "years to come": ("m,v\n" + "".join(f"{datetime(date.today().year - 2 + k // 12, k % 12 + 1, 1):%b-%y},{v}\n"
                      for k, v in enumerate(VALUES)), {}, {"when": f"{date.today().year - 2}-01"}),
    "hours from 1 to 24": ("Datum,Stunde,Preis\n" + HOURS, {}, {"value": "Preis", "when": "2024-01-31 01:00",
                           "times": ["Datum", "Stunde"], "step": 3600}),
    "hours of a day": (table("{t:%Y-%m-%d},{t.hour},{v}", "日,時,値\n"), {},
                       {"value": "値", "when": "2024-01-31 22:00"}),
    "an hour, chosen": ("Datum,Stunde,Preis\n" + HOURS, {"value": "Stunde", "time": "", "machine": ""},
                        {"value": "Stunde", "first": 1, "notes": [], "time": None}),
    "days of a spreadsheet": ("date,v\n" + "".join(f"{45292 + k / 24:.6f},{v}\n" for k, v in enumerate(VALUES)), {},
                              {"step": 3600, "last": "2024-01-05 23:00"}),
    "days of a spreadsheet, shortened": ("date,v\n" + "".join(f"{45292 + k / 1440:.4f},{v}\n"
                                         for k, v in enumerate(VALUES)), {}, {"step": 60, "last": "2024-01-01 01:59"}),
    **{f"{encoding} on a page in {language}": (table(form + ",{v}", head + "\n", timedelta(days=1)).encode(encoding),
       {"language": language}, {"value": head.split(",")[1], "kind": "seconds", "encoding": encoding,
                                "notes": ["encoding"]})
       for encoding, head, form in WORDS_OF.values() for language in WORDS_OF},
    "an encoding that is given": (table("{t},{v}", "t,ÐÏ\n").encode("cp1252"), {"encoding": "cp1252", "language": "zh"},
                                  {"value": "ÐÏ", "encoding": "cp1252", "notes": ["encoding"]}),
    "another column": (table("{t},{k},{v}", "time,other,value\n"), {"value": "value"}, {"value": "value"}),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_a_file_is_read(case):
    content, options, expected = READ[case]
    series = read_csv(content if isinstance(content, bytes) else content.encode(), **options)
    found = {
        "count": series.count,
        "pieces": len(series.pieces),
        "first": series.pieces[0].values[0],
        "step": series.step,
        "kind": series.kind,
        "value": series.value,
        "time": series.time,
        "machine": series.machine,
        "notes": [note.key for note in series.notes],
    }
    found |= {
        "when": series.when(0), "last": series.when(len(series.pieces[0].values) - 1),
        "times": getattr(series, "times", None), "encoding": getattr(series, "encoding", None),
    }  # fmt: skip
    expected = {"count": N, "pieces": 1, "first": VALUES[0], "machine": None, "notes": []} | expected
    if "machine" in case:
        expected["pieces"] = 2
    assert {key: found[key] for key in expected} == expected
    seen = [value for value, seen in zip(series.pieces[0].values, series.pieces[0].seen) if seen]
    if found["notes"] == [] and expected["first"] == VALUES[0]:
        assert seen[:N] == VALUES and seen[N:] in ([], [20.09])


REFUSED = {
    "absent": ("no_such_file.csv", "There is no file"),
    "empty": (b"\n\n", "empty"),
    "format": (b"PK\x03\x04" + table().encode(), "save the sheet as CSV"),
    "binary": (b"a\0b\n1\0\n", "UTF-8"),
    "no_numbers": (table("{k} x y,red"), "in line 2, is: 0 x y, red"),
    "constant": (table("{t},5"), "column value is 5 in every row"),
    "few": ("v\n" + "1\n2\n" * 20, "has 40 values"),
    "repeats": (table("{t:%Y-%m-%d},{v}"), "If a column names the machine"),
}


@pytest.mark.parametrize("key", REFUSED)
def test_a_file_is_refused_with_the_remedy(key):
    content, text = REFUSED[key]
    with pytest.raises(FileProblem, match=re.escape(text)) as caught:
        read_csv(content)
    assert caught.value.note.key == key


def test_a_chosen_column_must_fit():
    for options, key in (
        ({"value": "no"}, "column"),
        ({"value": "time"}, "not_numbers"),
        ({"time": "word"}, "times"),
        ({"value": "five"}, "constant"),
    ):
        with pytest.raises(FileProblem) as caught:
            read_csv(table("{t},{v},w,5", "time,value,word,five\n"), **options)
        assert caught.value.note.key == key and caught.value.columns == ["time", "value", "word", "five"]


DATES = "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M", "%d %b %Y %H:%M", "%Y%m%d%H%M%S"
FORMS = st.fixed_dictionaries({
    "separator": st.sampled_from([",", ";", "\t", "|"]),
    "decimal": st.sampled_from([".", ","]),
    "date": st.sampled_from(DATES),
    "minutes": st.sampled_from([1, 7, 60, 1440]),
    "header": st.booleans(),
    "quoted": st.booleans(),
    "before": st.booleans(),
    "seed": st.integers(0, 10**6),
})  # fmt: skip


@settings(max_examples=60)
@given(FORMS)
def test_values_come_back_from_any_form(form):
    rng = random.Random(form["seed"])
    values = [round(rng.gauss(0, 10), 2) for _ in range(N)]
    mark = '"' if form["quoted"] or form["decimal"] == form["separator"] else ""
    lines = [form["separator"].join(["when", "value"])] if form["header"] else []
    for k, value in enumerate(values):
        time = f"{START + timedelta(minutes=k * form['minutes']):{form['date']}}"
        number = f"{mark}{value}{mark}".replace(".", form["decimal"])
        lines.append(form["separator"].join([time, number]))
    series = read_csv("\n".join(lines))
    assert [list(piece.values) for piece in series.pieces] == [values]
    assert series.step == 60 * form["minutes"] and series.kind == "seconds"


def test_irregular_times_are_put_into_equal_steps():
    rng, now, lines = random.Random(0), 1.7e9, ["time,value"]
    for _ in range(900):
        now += rng.expovariate(1 / 100)
        lines.append(f"{now:.1f},{math.sin(now / 5000):.4f}")
    series = read_csv("\n".join(lines))
    assert series.step == 300 and [note.key for note in series.notes][:1] == ["irregular"]
    for piece in series.pieces:
        for k, value in enumerate(piece.values):
            middle = series.origin + (piece.start + k) * series.step
            assert not piece.seen[k] or abs(value - math.sin(middle / 5000)) < 0.05

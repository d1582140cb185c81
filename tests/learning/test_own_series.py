"""Test a reader's own series: files as people write them, an honest split, known winners, and the notebook."""

import math
import random
import re
import tomllib
from datetime import date, datetime, timedelta

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.learning.own_series import FileProblem, compare, read_csv, to_notebook
from companion.learning.own_series.comparison import Score, choose_linear, choose_season, judge, train_networks
from companion.learning.own_series.parts import CHOOSE, LEARN, TEST, Parts
from companion.learning.own_series.words import HERE as WORDS
from companion.learning.own_series.words import Note, words
from companion.learning.series import water_tank

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


# ---- The split ----


def series_of(values, machines=("",), keep=lambda k: True):
    """Return the series of a file with these values, hour after hour, for each machine."""
    lines = [
        f"{START + timedelta(hours=k)},{m},{value:.9g}" for m in machines for k, value in enumerate(values) if keep(k)
    ]
    return read_csv("\n".join(["time,machine,value", *lines]), "value", "time", "machine" if machines[0] else "")


def noise(count, seed=0):
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(count)]


def wave(count):
    return [math.sin(2 * math.pi * k / 24) + x for k, x in enumerate(noise(count))]


@pytest.mark.parametrize("machines", [("",), ("a", "b")])
def test_the_test_part_changes_nothing_that_is_learned_or_chosen(machines):
    """Replace the last fifth: a scale, a season or a length that looked at it would change."""
    values = wave(400)
    learned = []
    for last in (values[320:], [50 * value for value in values[320:]], noise(80), [float(k) for k in range(80)]):
        parts = Parts(series_of(values[:320] + last, machines))
        choose_season(parts)
        parts.choose_lengths()
        targets = [parts.targets(part) for part in (LEARN, CHOOSE, TEST)]
        linear, length = choose_linear(parts, targets)
        (network,), rate = train_networks(parts, targets, (0.01, 0.003), (0,), 4, 1, 100, None)
        scale = parts.mean[0].item(), parts.std[0].item()
        forecasts = [*linear(targets[CHOOSE]).tolist(), *network(targets[CHOOSE]).tolist()]
        learned.append((scale, parts.season.period, parts.season.reach, length, rate, forecasts))
    assert learned == learned[:1] * 4 and learned[0][1] == 24


def test_parts_follow_one_another_for_each_machine():
    """Machines of one time have the same cuts; machines of different times have their own."""
    parts = Parts(series_of(wave(200), ("a", "b")))
    assert parts.common and parts.cuts == [(120, 160)] * 2 and parts.counts() == [240, 80, 80]
    lines = [f"{START + timedelta(hours=k + 500 * (m == 'b'))},{m},{v}" for m in "ab" for k, v in enumerate(wave(200))]
    parts = Parts(read_csv("\n".join(["time,machine,value", *lines])))
    assert not parts.common and parts.cuts == [(120, 160), (620, 660)]


def test_no_window_crosses_a_gap_or_forecasts_a_filled_value():
    values = [float(k) for k in range(400)]
    parts = Parts(series_of(values, keep=lambda k: not 100 <= k < 120 and k % 30 != 7))
    parts.choose_lengths()
    for part in (LEARN, CHOOSE, TEST):
        targets = parts.targets(part)
        inputs, truth = parts.windows(targets, max(parts.lengths))
        steps = torch.tensor(parts.step)[targets]
        assert not ((steps >= 100) & (steps < 120 + max(parts.lengths))).any() and not (steps % 30 == 7).any()
        last = inputs[-1, :, 0] * parts.std[targets] + parts.mean[targets]
        before = torch.where((steps - 1) % 30 == 7, steps - 2, steps - 1).double()
        assert torch.allclose(last, before) and torch.allclose(parts.unscaled(truth, targets), steps.double())
    with pytest.raises(FileProblem, match="leave too few values"):
        compare(series_of(noise(1400), keep=lambda k: k < 400 or k % 10 == 0))


# ---- What wins ----

QUICK = {"rates": (0.01,), "seeds": (0,), "epochs": 2}


def autoregression(count):
    values = [0.0, 0.0]
    for x in noise(count):
        values.append(1.6 * values[-1] - 0.8 * values[-2] + x)
    return values


def walk(count):
    position = 0.0
    return [position := position + x for x in noise(count)]


def test_known_winners():
    pattern = noise(24, seed=1)
    season = compare(series_of([5 * pattern[k % 24] + x / 5 for k, x in enumerate(noise(600))]), **QUICK)
    assert season.best == "mean" and season.verdict[0].key == "simple_clear"
    assert season.scores[1].setting.values["period"] == 24
    exact = compare(series_of([pattern[k % 24] for k in range(600)]), **QUICK)
    assert exact.errors["season"] < 1e-9 and exact.best in ("season", "mean", "linear")
    linear = compare(series_of(autoregression(900)), **QUICK)
    assert linear.best == "linear" and linear.errors["linear"] == pytest.approx(0.8, abs=0.08)
    random_walk = compare(series_of(walk(900)), **QUICK)
    assert random_walk.errors["last"] < 1.03 * min(random_walk.errors.values())
    assert {note.key for note in random_walk.verdict} & {"nothing", "no_gain"}


def test_an_lstm_wins_where_a_law_has_two_cases():
    tank = compare(series_of(water_tank(1500)[:, 0].tolist()), rates=(0.01,), seeds=(0, 1), epochs=16)
    assert tank.best == "lstm" and tank.verdict[0].key == "lstm_clear"
    assert tank.errors["lstm"] < 0.9 * tank.errors["linear"]


def score(key, errors, seeds=()):
    errors = torch.tensor(errors, dtype=torch.float64)
    return Score(key, errors.mean().item(), Note("table", "set_last", {}), errors, errors, seeds)


def test_a_difference_is_clear_only_beyond_the_chance_of_blocks_and_seeds():
    rng = random.Random(0)
    last = score("last", [3.0] * 200)
    linear = score("linear", [1 + 0.1 * rng.random() for _ in range(200)])
    for errors, seeds, expected in (
        ([0.9] * 200, (0.9, 0.9), "lstm_clear"),
        ([0.9] * 200, (0.7, 1.1), "lstm_unclear"),  # one seed is worse
        ([0.1] * 40 + [1.2] * 160, (0.9, 0.9), "lstm_unclear"),  # better at one time only
        ([1.2] * 200, (1.2, 1.2), "simple_clear"),
        ([1.2] * 200, (1.0, 1.4), "simple_unclear"),
    ):
        first, second = judge([last, linear, score("lstm", errors, seeds)])
        assert first.key == expected
        assert second.key == "gain" and second.values["winner"].key == (
            "lstm" if expected == "lstm_clear" else "linear"
        )
    assert judge([last, score("lstm", [3.1] * 200, (3.1,))])[1].key == "nothing"


# ---- Words and the notebook ----


def filled_in(text):
    """Return the names of values, and the code, in a sentence."""
    return sorted(re.findall(r"\{\w+\}|`[^`]*`", text))


def test_a_season_may_be_long_and_its_absence_is_explained():
    minutes = [math.sin(2 * math.pi * k / 480) + x / 9 for k, x in enumerate(noise(2400))]
    lines = [f"{START + timedelta(minutes=3 * k)},{value}" for k, value in enumerate(minutes)]
    series = read_csv("\n".join(["time,value", *lines]))
    result = compare(series, **QUICK)
    assert result.scores[1].setting.values["period"] == 480
    assert "because no period was found" not in result.text("en")
    falling = "v\n" + "".join(f"{-k * k}\n" for k in range(300))
    assert "because no period was found" in compare(read_csv(falling), **QUICK).text("en")


def test_gains_are_shares_of_the_larger_error():
    rng = random.Random(0)
    last = score("last", [4 + rng.random() for _ in range(200)])
    for factor, expected in ((0.8, "20"), (0.996, "0.4"), (0.9996, "0.04"), (1 - 1e-9, "<0.01")):
        linear = score("linear", (factor * last.errors).tolist())
        first, second = judge([last, linear, score("lstm", last.errors.tolist(), (last.error,))])
        assert (first.key, first.values["gain"], second.values["gain"]) == ("simple_clear", expected, expected)
    first, _ = judge([last, score("lstm", [0.9 * last.error, 1.02 * last.error] * 100, (0.96 * last.error,))])
    assert first.text("en").count("4 % smaller than that of the best simpler forecast") == 1


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
def test_words_are_translated(language):
    own = tomllib.loads((WORDS / f"{language}.toml").read_text(encoding="utf-8"))
    assert {part: [*sentences] for part, sentences in own.items()} == {
        part: [*sentences] for part, sentences in words("en").items()
    }
    for part, english in words("en").items():
        for key, text in english.items():
            assert filled_in(own[part][key]) == filled_in(text), key


def test_the_notebook_repeats_the_comparison(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my 'file'.csv").write_text(table("{t},{v},{v}", "time,x,value\n"), encoding="utf-8")
    series = read_csv("my 'file'.csv", "value")
    result = compare(series, **QUICK)
    notebook = to_notebook(series, "en")
    assert "my 'file'.csv" in "".join(notebook["cells"][0]["source"])
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    names = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            quick = (
                source.replace("(0.01, 0.003)", "(0.01,)").replace("(0, 1, 2)", "(0,)").replace("epochs=12", "epochs=2")
            )
            exec(quick, names)
    assert names["series"].text() == series.text() and names["result"].text() == result.text()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_notebook_has_the_encoding_and_the_words_of_its_language(tmp_path, monkeypatch, language):
    """Run the part that reads in another language, in which the encoding would be guessed otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.csv").write_bytes(table("{v}", "It’s\n").encode("cp1252"))
    series = read_csv("short.csv", language="en")
    cells = {cell["id"]: "".join(cell["source"]) for cell in to_notebook(series, language)["cells"]}
    monkeypatch.setenv("UNROLLED_LANGUAGE", "ja")
    assert read_csv("short.csv").value == "It痴" and "encoding='cp1252'" in cells["read"]
    names = {}
    exec(cells["read"], names)
    assert names["series"].value == series.value == "It’s"
    assert f"xlabel={words(language)['notebook']['step']!r}" in cells["last"]
    assert ("Yu Gothic" in cells["picture"]) == (language == "ja")
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    exec(cells["picture"], names)
    with pytest.raises(FileProblem, match="cannot be read as utf-8"):
        read_csv("short.csv", encoding="utf-8")

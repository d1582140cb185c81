"""Test the page about projects: its numbers are those of the stored runs, its points add up, its conclusions hold."""

import importlib
import re
import statistics
from collections import Counter

import pytest

from book.editions import BOOK, ORIGINAL, finished
from companion.learning import evidence, protocol
from companion.learning.series import ORIGINS, load_series
from tests.project.paths import ROOT

NAME, WORDS = "project", 1800
LANGUAGES = [edition.language for edition in finished() if edition.has(NAME)]
SECTION = re.compile(r"^\(([a-z-]+)\)=\n#{2,3} [^\n]*\n(.*?)(?=^\([a-z-]+\)=$|^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^(?:> )?\|(.+)\|$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*", re.ASCII)
LINK_OR_FORMULA = re.compile(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$")
SPELLED = 10  # numbers up to this one are words in English, and may be digits in a translation

each = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def module(monkeypatch):
    """Import the program that computed the runs."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("evidence_project_examples")


def sections(language):
    """Return label → the text of its section."""
    return dict(SECTION.findall((BOOK / language / f"{NAME}.md").read_text(encoding="utf-8")))


def table(section):
    """Return the cells of a section's table, without its head."""
    return [[cell.strip() for cell in row.split("|")] for row in ROW.findall(section)][2:]


def numbers(text):
    return NUMBER.findall(LINK_OR_FORMULA.sub(" ", text))


def prose(section):
    """Count the numbers of a section outside its table."""
    return Counter(numbers(ROW.sub("", section)))


def assert_has(section, expected):
    """Check that a section has these numbers as often as they are expected, and no other but small ones."""
    found, wanted = prose(section), Counter(expected)
    assert wanted - found == Counter(), "missing on the page"
    extra = found - wanted
    assert [number for number in extra if not number.isdigit() or int(number) > SPELLED] == []


def stored(report, **settings):
    return evidence.load("project_examples", report=report, **settings)


def of_seeds(report, method, way, measured="test"):
    """Return a measurement of the five networks that are reported, each as a number."""
    runs = stored(report, method=method, way=way, chosen=True)
    assert tuple(run["seed"] for run in runs) == protocol.REPORTED
    return [mean(run[measured]) for run in runs]


def mean(value):
    return statistics.mean(value) if isinstance(value, list) else value


def two(value):
    return f"{value:.2f}"


def ends(values, shown=two):
    """Return the lowest and the highest value, as they are shown."""
    return [shown(min(values)), shown(max(values))]


def simple(report, method, **settings):
    """Return the only run of a simple forecast."""
    (run,) = stored(report, method=method, **settings)
    return run


def less(value, than):
    """Return by how many percent a value is smaller than another one."""
    return f"{100 * (1 - value / than):.0f}"


@each
def test_numbers_of_the_wind(module, language):
    section, weather = sections(language)["report-wind"], load_series("seattle", ["wind"])
    errors, after = (of_seeds("wind", "LSTM", "fair", measured) for measured in ("test", "after_wind"))
    rows = [simple("wind", method) for method in ("last value", "season", "linear")]
    expected = [[two(mean(run["test"])), two(run["after_wind"])] for run in rows]
    expected[-1].insert(0, f"{rows[-1]['setting']}")  # days that the linear model reads
    expected.append([two(mean(errors)), *ends(errors), two(mean(after))])
    assert [numbers(" | ".join(row)) for row in table(section)] == expected
    (parameters,) = {run["parameters"] for run in stored("wind", method="LSTM")}
    high = two(rows[0]["too_high"])
    assert_has(section, [f"{len(weather):,}", "2014", "2015", f"{parameters}", f"{module.STEPS['wind']}", high])
    assert rows[-1]["setting"] + 1 == 4 and len(ORIGINS["weather"]) == 4  # its weights; halves of two years


def test_conclusion_about_the_wind():
    """Check that the linear model is the best simple rule, and no LSTM is clearly better, on all days and on others."""
    errors = {method: mean(simple("wind", method)["test"]) for method in ("last value", "season", "linear")}
    assert min(errors, key=errors.get) == "linear"
    networks = of_seeds("wind", "LSTM", "fair")
    assert min(networks) < errors["linear"] < max(networks)
    after = of_seeds("wind", "LSTM", "fair", "after_wind")
    assert abs(mean(after) - simple("wind", "linear")["after_wind"]) < 0.05


@each
def test_numbers_of_the_tank(module, language):
    section = sections(language)["report-tank"]
    last, linear = (simple("tank", method)["test"] for method in ("last value", "linear"))
    reported = {run["method"]: run for run in stored("tank", way="as reported")}
    gru, lstm = (reported[kind]["test"] for kind in ("GRU", "LSTM"))
    assert [numbers(row[-1]) for row in table(section)] == [[two(last)], [two(lstm)], [two(gru)]]
    learned, start, stop = module.TANK_CUTS
    assert start - learned == stop - start
    design = [f"{module.TANK_STEPS:,}", *[f"{learned}"] * 2, *[f"{start - learned}"] * 2, f"{module.UNITS['tank']}"]
    design += [f"{module.REPORTED_RATE}", f"{module.REPORTED_SEED}", less(gru, lstm), less(gru, last)]
    fair = [of_seeds("tank", kind, "fair") for kind in ("GRU", "LSTM")]
    assert_has(section, [*design, *ends(fair[0]), *ends(fair[1]), two(linear)])


def test_conclusion_about_the_tank():
    """Check that the seed misleads, that fair ranges overlap, and that all networks are ahead of the linear model."""
    gru, lstm = (of_seeds("tank", kind, "fair") for kind in ("GRU", "LSTM"))
    assert max(min(gru), min(lstm)) < min(max(gru), max(lstm)) and abs(mean(gru) - mean(lstm)) < 0.01
    assert max(gru + lstm) < simple("tank", "linear")["test"]
    reported = {run["method"]: run for run in stored("tank", way="as reported")}
    assert reported["GRU"]["test"] < min(gru) and reported["LSTM"]["test"] > max(lstm)
    assert reported["GRU"]["units"] == reported["LSTM"]["units"]
    sizes = {run["parameters"] for run in stored("tank", way="fair")}
    assert max(sizes) / min(sizes) < 1.04


@each
def test_numbers_of_the_price(module, language):
    section = sections(language)["report-price"]
    wrong, right = (simple("price", "last value", way=way) for way in ("random split", "split by time"))
    errors, shares = (of_seeds("price", "LSTM", "random split", measured) for measured in ("test", "r2"))
    network = [two(mean(errors)), *ends(errors), two(mean(shares))]
    expected = [[two(wrong["test"]), two(wrong["r2"])], network]
    assert [numbers(" | ".join(row)) for row in table(section)] == expected
    learned, start, stop = module.PRICE_CUTS
    assert start - learned == stop - start and module.AHEAD == 10
    design = [f"{module.PRICE_DAYS:,}", f"{module.UNITS['price']}", f"{module.PRICE_RATE}", f"{module.STEPS['price']}"]
    honest = ends(of_seeds("price", "LSTM", "split by time"), lambda error: f"{error:.1f}")
    claimed = [less(mean(errors), wrong["test"]), f"{100 * mean(shares):.0f}"]
    parts = [f"{learned}", *[f"{start - learned}"] * 2]
    assert_has(section, [*design, *claimed, *honest, *parts, two(right["test"])])


def test_conclusion_about_the_price():
    wrong, right = (simple("price", "last value", way=way)["test"] for way in ("random split", "split by time"))
    assert max(of_seeds("price", "LSTM", "random split")) < wrong
    assert min(of_seeds("price", "LSTM", "split by time")) > right
    assert max(of_seeds("price", "LSTM", "split by time", "r2")) < 0


@each
def test_points_add_up(language):
    """Check that each mark is full, half or no points of its row, and that the sums are right."""
    rubric, marks = (table(sections(language)[label]) for label in ("rubric", "marks"))
    full = [int(re.search(r"[(（](\d+)[)）]", row[0])[1]) for row in rubric]
    assert [int(row[0].split()[0]) for row in rubric] == list(range(1, len(full) + 1))
    assert f"{sum(full)}" in prose(sections(language)["rubric"])
    *rows, sums = marks
    assert [row[0] for row in rows] == [f"{k}" for k in range(1, len(full) + 1)]
    given = [[int(NUMBER.match(cell)[0]) for cell in row[1:]] for row in rows]
    assert all({*points} <= {0, most // 2, most} for points, most in zip(given, full, strict=True))
    assert [int(cell.strip("*")) for cell in sums[1:]] == [sum(column) for column in zip(*given, strict=True)]
    split, result = (given[k] for k in (1, 4))
    assert all(points == 0 for points, found in zip(result, split, strict=True) if not found)


@each
def test_three_reports_and_six_questions(language):
    text = (BOOK / language / f"{NAME}.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) == 6
    assert [label for label in sections(language) if label.startswith("report")] == [
        "report-wind", "report-tank", "report-price",
    ]  # fmt: skip


def test_the_page_is_short():
    text = (BOOK / ORIGINAL / f"{NAME}.md").read_text(encoding="utf-8")
    assert sum(bool(re.search(r"\w", word)) for word in text.split()) <= WORDS
    for label in ("report-wind", "report-tank", "report-price"):
        words = re.findall(r"\w\S*", "".join(re.findall(r"^>.*\n", sections(ORIGINAL)[label], re.MULTILINE)))
        assert 120 <= len(words) <= 200, label

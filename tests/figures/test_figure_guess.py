"""Test the figure Guess, Shannon's game: tries and surprises of counts and LSTM, and a reader who plays."""

import math
import re

import pytest
import torch
from safetensors import safe_open

from companion.figures import Guess
from companion.figures.guess import (
    AT_ONCE,
    GIVEN,
    MOST,
    ORDERS,
    PLAYERS,
    counts_of,
    distributions,
    held_out_text,
    passages,
    pieces,
    played,
    shannon,
)
from companion.figures.writing import writer_of
from companion.learning.counts import Counts
from companion.learning.text import load_text
from companion.learning.windows import split
from companion.learning.writer import fingerprint, path_of
from tests.figures.figure_page import figure_page, get, move, sentences, serve_modules
from tests.figures.test_figures import TABLES

OWN = "He felt for the bench and sat down on it, and began to laugh."
ROWS = "() => [...document.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tries_and_surprises_of_players(language):
    """Compute tries and surprises at every guessed place one by one, and check that the text is held out."""
    model, vocabulary = writer_of(language)
    training, unread = split(vocabulary.encode(load_text(language)))
    assert held_out_text(language) == vocabulary.decode(unread)
    assert all(passage["text"] in held_out_text(language) for passage in Guess(language).game["passages"])
    game = Guess(language).game["passages"][0]
    indices, given = vocabulary.encode(game["text"], strict=True), game["given"]
    with torch.no_grad():
        expected = torch.softmax(model(indices[:-1, None])[0][:, 0], dim=1)
    counted = [Counts(training, len(vocabulary), order) for order in ORDERS]
    for place in [*range(given, len(indices))][:: 1 if language == "en" else 16]:
        past, truth = indices[:place].tolist(), indices[place].item()
        for n, p in enumerate([*(counts.probabilities(past) for counts in counted), expected[place - 1]]):
            likelier, as_likely = (int((p > p[truth] + tie).sum()) for tie in (1e-12, -1e-12))
            assert min(likelier + 1, 6) <= int(game["tries"][n][place - given]) <= min(as_likely, 6)
            assert 2 ** -game["bits"][n][place - given] == pytest.approx(p[truth].item(), abs=1e-6)
            six = vocabulary.encode(game["choices"][place - given]).tolist()
            assert truth in six and len({*six}) == 6 and 0 not in six and six == sorted(six)
            among = int(game["among"][n][place - given])
            assert (p[six] > p[truth] + 1e-12).sum() < among <= (p[six] > p[truth] - 1e-12).sum()
        assert six[int(game["likeliest"][place - given])] == expected[place - 1].argmax()


@pytest.mark.parametrize(
    "language", ["en", *(pytest.param(each, marks=pytest.mark.heavy) for each in ("ja", "ko", "zh"))]
)
def test_first_passage_is_typical(language):
    """Check the shares of the whole text, and choose the first passage by the players' order and the LSTM's share.

    A difference between two players counts if it is at least 2 % of the characters, or 0.05 tries.
    """
    text = held_out_text(language)
    indices = writer_of(language)[1].encode(text)
    p = distributions(language, text)
    p_true = p.gather(2, indices[None, 1:, None].expand(len(p), -1, 1))
    tries = 1 + (p > p_true).sum(2).clamp(max=MOST)
    whole_share, whole_mean = (tries == 1).double().mean(1), tries.double().mean(1)
    assert [round(100 * share) for share in whole_share.tolist()] == pytest.approx(AT_ONCE[language], abs=0)

    def ordered(numbers, whole, least):
        difference, expected = numbers[:, None] - numbers, whole[:, None] - whole
        return bool((difference * expected > 0)[expected.abs() >= least].all())

    distances = {}
    for piece in pieces(language):
        tries = torch.tensor([[*map(int, digits)] for digits in played(language, piece, GIVEN[language])["tries"]])
        share, mean = (tries == 1).double().mean(1), tries.double().mean(1)
        if ordered(share, whole_share, 0.02) and ordered(mean, whole_mean, 0.05):
            distances[piece] = abs(share[-1] - whole_share[-1])
    assert passages(language)[0] == min(distances, key=distances.get)


def test_table_shows_the_shares_of_the_whole_text(browser):
    with figure_page(browser, "guess") as page:
        for tries in ([], [1] * 12):
            move(page, tries=tries)
            assert [row[3] for row in page.evaluate(ROWS)[:5]] == ["–", *(f"{share}\u00a0%" for share in AT_ONCE["en"])]


def test_squares_begin_with_the_first_guess(browser):
    with figure_page(browser, "guess") as page:
        squares = page.locator("svg.drawing > g > g > rect")
        assert squares.count() == 0
        move(page, tries=[2])
        assert squares.count() == 1 + len(PLAYERS)


def test_models_and_counts_are_trained_on_the_current_texts():
    """Check the fingerprint of the texts, and that the passages are three different ones of whole sentences."""
    for language in ("en", "ja", "ko", "zh"):
        with safe_open(path_of(language), framework="pt") as file:
            assert file.metadata()["text"] == fingerprint(load_text(language))
        texts = passages(language)
        assert len({*texts}) == 3 and all(re.search("[.!?。！？][”’」』]*$", text) for text in texts)
        assert {len(context) for context in counts_of(language)[0].followers} == {0, 1}


def test_first_characters_of_words_are_harder():
    """Check the chapter's claim: after a space or punctuation, the LSTM's first try is less often right."""
    for language in ("en", "ja", "ko", "zh"):
        at_once = {True: [], False: []}
        for passage in Guess(language).game["passages"]:
            for before, tries in zip(passage["text"][passage["given"] - 1 :], passage["tries"][-1], strict=False):
                at_once[before.isalnum() or before in "’-"].append(tries == "1")
        begins, goes_on = (sum(at_once[inside]) / len(at_once[inside]) for inside in (False, True))
        assert begins < goes_on - 0.15, (language, begins, goes_on)


def test_the_question_has_the_right_answer():
    """Check that the right answer is the nearest one to the share that the LSTM has right at once, in each passage."""
    for language in (language for language, table in TABLES.items() if "question" in table["guess"]):
        table = TABLES[language]["guess"]
        tenths = [int(re.search(r"[1-9]", answer.replace("10", ""))[0]) for answer in table["answers"]]
        for passage in (1, 2, 3):
            figure = Guess(language, passage=passage)
            figure.tries = [0] * len(figure.game["passages"][passage - 1]["choices"])
            at_once = 10 * figure.standings()["LSTM"][0]
            assert min(tenths, key=lambda n: abs(n - at_once)) == tenths[table["right"]], (language, passage, at_once)
    assert "question" not in Guess(text=OWN).words  # it is about the passages


def test_squares_say_tries_and_probabilities_to_a_pointer(browser):
    """Compare with the probabilities of the LSTM and of counts, at the last of the characters that are drawn."""
    with figure_page(browser, "guess", tries=[0] * 19) as page:
        game = Guess().game["passages"][0]
        place = game["given"] + 18
        _, vocabulary = writer_of("en")
        index = vocabulary.encode(game["text"]).tolist()[place]
        p = distributions("en", game["text"])[:, place - 1, index]
        for n, name in enumerate(PLAYERS):
            page.locator(f"[data-said^='{name}: ']:not(text)").last.hover()
            tries = int(game["tries"][n][18])
            result = f"at try {tries}" if tries <= MOST else "not found"
            expected = f"{name}: ‘{game['text'][place]}’ {result}, probability {p[n]:.4f}"
            assert page.locator(".pointed").text_content() == expected
            page.locator(f"text[data-said^='{name}: ']").hover()
            mean = Guess(tries=[0] * 19).standings()[name][1]
            assert page.locator(".pointed").text_content() == f"{name}: {mean:.4f} tries on average"


def test_pressing_the_next_place_leads_to_the_input(browser):
    with figure_page(browser, "guess") as page:
        for choosing, tag in ((False, "INPUT"), (True, "BUTTON")):
            move(page, choosing=choosing)
            page.locator("svg rect[cursor]").click()
            assert page.evaluate("document.activeElement.tagName") == tag


def test_standings_are_folded_until_ten_characters_can_be_compared(browser):
    with figure_page(browser, "guess") as page:
        is_open = lambda: page.locator("details").first.get_attribute("open") is not None  # noqa: E731
        for count, expected in ((0, False), (9, False), (10, True)):
            move(page, tries=[1] * count)
            assert is_open() == expected, count
        page.locator("summary").first.click()
        move(page, tries=[1] * 11)
        assert not is_open()  # the reader has closed it
        assert not page.locator("table").last.is_visible()  # bits are folded


def test_bounds_and_standings_equal_pythons(browser):
    tries = [1, 1, 2, 6, 1, 3, 1, 6]
    by_hand = 0.5 * 1 + 2 * (1 / 8) * 3 + 0.25 * 2 + 0.25 * math.log2(48)
    assert shannon(tries, 48) == pytest.approx(by_hand, abs=1e-12)
    assert shannon([1] * 5, 48) == 0 and shannon([6] * 5, 48) == pytest.approx(math.log2(48))
    with serve_modules(browser, "tries") as ask:
        for choosing in (False, True):
            for played in (tries, [0, 0, 0], [0, 4, 0, 1, 6], []):
                figure = Guess(passage=2, choosing=choosing, tries=played)
                game = figure.game["passages"][1]
                theirs = [[*map(int, digits)] for digits in game["among" if choosing else "tries"]]
                (rows,) = ask(
                    "arguments => s.standings(...arguments)",
                    [[played, theirs, game["bits"], 1 if choosing else figure.game["size"] - MOST]],
                )
                expected = figure.standings()
                for name, row in zip(["you", *PLAYERS], rows, strict=True):
                    assert (row is None) == (name not in expected)
                    if row:
                        first, tried, bound, bits = expected[name]
                        assert [row["first"], row["tries"], row["bound"]] == pytest.approx(
                            [first, tried, bound], abs=1e-12
                        )
                        assert row.get("bits") == pytest.approx(bits, abs=1e-12)
                assert figure.bits == {name: row[3] for name, row in expected.items() if name != "you"}


def test_a_reader_plays_by_keyboard(browser):
    figure = Guess(text=OWN)
    given = figure.game["passages"][0]["given"]
    with figure_page(browser, "guess", text=OWN) as page:
        rest = OWN[given:]
        page.keyboard.press("Tab")
        page.keyboard.type(f"x{rest[0]}")
        page.keyboard.type(f"{rest[1:9]}QQ")  # a repeated guess does not count
        assert get(page, "tries") == [2, *[1] * 8]
        assert sentences(page).startswith("Not ‘Q’. Wrong guesses that you have left: 4")
        page.keyboard.type("RSTU")
        assert get(page, "tries")[9:] == [6]
        assert sentences(page).startswith("It was a space." if rest[9] == " " else f"It was ‘{rest[9]}’.")
        figure.tries = get(page, "tries")
        assert page.locator(".passage").text_content() == figure.text + "?"
        (name, first, tried, _), (_, bound, _) = (page.evaluate(ROWS)[k] for k in (0, 1 + len(PLAYERS)))
        at_once, mean, bits, _ = figure.standings()["you"]
        assert (name, first, tried, bound) == (
            "you",
            f"{100 * at_once:.0f}\N{NO-BREAK SPACE}%",
            f"{mean:.1f}",
            f"≤ {bits:.1f}",
        )
        page.get_by_role("button", name="Skip").press("Enter")
        assert get(page, "tries")[10:] == [0]
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # begin again
        assert get(page, "tries") == [] and page.evaluate(ROWS)[0] == ["you", "–", "–", "–"]
        page.get_by_label("Next character").type(rest)
        assert get(page, "tries") == [1] * len(rest)
        assert "The passage is complete." in sentences(page)
        assert not page.locator("input[type=text]").is_editable()


def test_unfinished_composition_is_not_a_guess(browser):
    """Check that a Korean syllable counts when it is complete, even if the next one has begun.

    English counts at once, although phones compose it.
    """
    compose = """([texts, end, going]) => {
        const box = document.querySelector("input[type=text]");
        if (going) box.dispatchEvent(new CompositionEvent("compositionend"));
        box.dispatchEvent(new CompositionEvent("compositionstart"));
        for (const text of texts) {
            box.value = text;
            box.dispatchEvent(new InputEvent("input", { isComposing: true }));
        }
        if (end) box.dispatchEvent(new CompositionEvent("compositionend"));
        return new Promise(done => setTimeout(() => done([model.get("tries"), box.value]), 5));
    }"""
    with figure_page(browser, "guess", "ko", choosing=False) as page:
        game = Guess("ko").game["passages"][0]
        first, second = game["text"][game["given"] :][:2]
        assert page.evaluate(compose, [["ㄱ", "가", first], False]) == [[], first]
        assert page.evaluate(compose, [[first + "ㄱ"], False, True]) == [[], first + "ㄱ"]
        assert page.evaluate(compose, [[first + second], True]) == [[1, 1], ""]
    with figure_page(browser, "guess") as page:
        game = Guess().game["passages"][0]
        assert page.evaluate(compose, [[game["text"][game["given"]]], False]) == [[1], ""]


def test_choosing_and_letting_the_lstm_play(browser):
    with figure_page(browser, "guess", "ja", clock=True) as page:
        game = Guess("ja").game["passages"][0]
        truth = game["text"][game["given"]]
        buttons = page.locator(".six button")
        (wrong, right), k = ("も", truth), game["choices"][0].index(truth)
        wrong = next(choice for choice in game["choices"][0] if choice != truth)
        buttons.nth(game["choices"][0].index(wrong)).click()
        page.clock.run_for(50)
        assert buttons.nth(game["choices"][0].index(wrong)).get_attribute("aria-disabled") == "true"
        page.get_by_role("button", name="答えを見る").click(force=True)  # refused: the last of six would be known
        assert get(page, "tries") == []
        page.get_by_role("button", name=f"「{right}」").press("Enter")
        assert get(page, "tries") == [2] and page.evaluate(
            f"document.activeElement === document.querySelectorAll('.six button')[{k}]"
        )
        play = page.get_by_role("button", name="LSTMにまかせる")
        play.click()
        page.clock.run_for(500)
        assert get(page, "tries") == [2, 0, 0, 0]
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new"
            " Event('visibilitychange'))"
        )
        page.clock.run_for(5000)
        assert get(page, "tries") == [2, 0, 0, 0] and play.is_visible()
        page.get_by_role("checkbox").uncheck()
        assert get(page, "tries") == []


def test_another_passage_restarts_the_game():
    figure = Guess(tries=[1, 2])
    figure.passage = 3
    assert figure.tries == [] and repr(figure) == "Guess(passage=3)"
    assert Guess("xx").text == Guess().text
    assert repr(Guess(text=OWN, tries=[1])) == f"Guess(text={OWN!r}, tries=[1])"

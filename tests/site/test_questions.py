"""Test the questions on the pages of the built site: where they stand, what they say, and what a browser stores."""

import functools
import re

import pytest

from book.editions import editions
from book.questions import bank
from book.site.extension.questions.choose import choose, earlier, part_that_ends
from tests.project.paths import soup
from tests.site.browsing import opened

ROAD = [(edition.language, page) for edition in editions() for page in edition.road]


@functools.cache
def page_soup(site, language, page):
    return soup(site / language / f"{page}.html")


def test_questions_are_chosen_by_their_places(monkeypatch):
    places = {"p/a": "p#two", "p/b": "p#one", "p/c": "other#cell", "p/d": "p#one-more", "p/e": "p#two"}
    monkeypatch.setattr(bank, "names", lambda page: [*places] if page == "p" else [])
    monkeypatch.setattr(bank, "place_of", places.get)
    chosen = choose("p", {"one": "section-1", "one-more": "section-1", "two": "section-2"})
    assert chosen.between == {"section-1": ["p/b", "p/d"], "section-2": ["p/a"]}
    assert chosen.end == ["p/e", "p/c"] and chosen.earlier is None


def test_a_question_of_an_earlier_chapter_comes_back():
    assert bank.page_of(earlier("gru")) == "through_time"  # three chapters before
    assert bank.page_of(earlier("first_network")) == "why"
    assert earlier("why") is None and earlier("complaints") is None


def test_parts_end_with_their_last_chapter():
    assert part_that_ends("comparing") == ["lstm", "gru", "forget_bias", "memory", "comparing"]
    assert part_that_ends("gru") == part_that_ends("complaints") == []


@pytest.mark.parametrize(("language", "page"), ROAD)
def test_each_chapter_asks_between_sections_and_at_its_end(site, language, page):
    html = page_soup(site, language, page)
    quizzes = html.select(".quiz")
    names = [quiz["data-name"].removeprefix(f"{page} ") for quiz in quizzes]
    back = earlier(page)
    assert sorted(names) == sorted([*bank.names(page), *([back] if back else [])])
    last = html.select("article section")[-1] if not html.select("#can-do") else html.select_one("#can-do")
    at_end = [quiz for quiz in quizzes if last in quiz.parents]
    assert 2 <= len(at_end) <= 4 and len(quizzes) - len(at_end) >= 1
    numbers = [re.search(r"\d+", quiz.select_one(".quiz-head").get_text())[0] for quiz in quizzes]
    assert numbers == [str(number) for number in range(1, len(quizzes) + 1)]


@pytest.mark.parametrize(("language", "page"), ROAD)
def test_the_page_says_which_choice_is_right(site, language, page):
    html, letters = page_soup(site, language, page), []
    for number, quiz in enumerate(html.select(".quiz"), start=1):
        question = bank.ask(quiz["data-name"].removeprefix(f"{page} "), page, language)
        said = quiz.select(".said")
        right = [position for position, choice in enumerate(said) if choice.has_attr("data-right")]
        assert right == [question.choices.index(question.right)] and len(said) == len(question.choices)
        values = [field["value"].replace("\N{WORD JOINER}", "") for field in quiz.select("input")]
        assert values == [choice.text for choice in question.choices]
        letters.append(f"{number} {'ABCD'[right[0]]}")
        for link in quiz.select(".said a"):
            target, _, anchor = link["href"].partition("#")
            place = page_soup(site, language, target.removesuffix(".html") or page)
            assert place.find(id=anchor), f"{quiz['data-name']} leads to {link['href']}"
    assert html.select_one(".quiz-key").get_text().endswith(f"{' · '.join(letters)}")


def choose_wrong(quiz, last=False):
    wrong = quiz.locator("li:has(.said:not([data-right])) input")
    (wrong.last if last else wrong.first).check()


def choose_right(quiz):
    quiz.locator("li:has(.said[data-right]) input").check()


def test_answers_stay_in_the_browser_and_are_listed_at_the_end_of_the_part(browser, address):
    with opened(browser, f"{address}/en/gru.html") as page:
        quizzes = page.locator(".quiz")
        wrong, right = quizzes.nth(0), quizzes.nth(1)
        choose_wrong(wrong)
        assert wrong.locator(".said:visible").count() == 1
        said = wrong.locator(".said:visible").text_content()
        assert wrong.get_by_role("status").text_content().replace(" ", "") == said.replace(" ", "").replace("\n", "")
        choose_right(wrong)
        assert wrong.locator(".said[data-right]:visible").count() == wrong.locator(".said:visible").count() == 1
        choose_right(right)
        chosen = wrong.locator("input:checked").get_attribute("value")
        page.reload()
        assert quizzes.nth(0).locator("input:checked").get_attribute("value") == chosen
        assert quizzes.nth(2).locator("input:checked").count() == 0

        # The first answer counts, and only what was wrong is listed.
        asked = quizzes.nth(0).locator(".quiz-head + *").text_content().strip()
        page.goto(f"{address}/en/comparing.html")
        again = page.locator(".again")
        assert re.findall(r"\d+", again.locator(".counted").text_content())[::2] == ["2", "1"]
        assert again.locator("li").count() == 1 and again.locator("li p").text_content() == f"{asked} Right since then."
        place, question = again.locator("li a").all()
        assert place.text_content().startswith("GRU: the LSTM with less · ")
        assert (
            place.get_attribute("href").startswith("gru.html#")
            and question.get_attribute("href") == "gru.html#question-1"
        )

        # Clearing the list keeps the answers.
        again.get_by_role("button").click()
        assert again.locator("ul").is_hidden() and again.locator(".counted").is_visible()
        page.goto(f"{address}/en/gru.html")
        assert quizzes.nth(0).locator("input:checked").get_attribute("value") == chosen
        page.goto(f"{address}/en/comparing.html")
        assert again.locator("ul").is_hidden()


def test_a_question_that_comes_back_is_asked_anew(browser, address):
    """Answer a question on its page, and look for it on the page that asks it again."""
    back = next(page for page in editions()[0].road if (earlier(page) or "").startswith("lstm/"))
    name = earlier(back)
    with opened(browser, f"{address}/en/lstm.html") as page:
        own = page.locator(f".quiz[data-name='lstm {name}']")
        choose_right(own)
        chosen = own.locator("input:checked").get_attribute("value")
        page.goto(f"{address}/en/{back}.html")
        repeated = page.locator(f".quiz[data-name='{back} {name}']")
        assert repeated.locator("input:checked").count() == 0
        choose_wrong(repeated)
        page.goto(f"{address}/en/lstm.html")
        assert own.locator("input:checked").get_attribute("value") == chosen


def test_arrow_keys_answer_nothing_until_a_choice_is_confirmed(browser, address):
    with opened(browser, f"{address}/en/gru.html") as page:
        quiz, stored = page.locator(".quiz").first, lambda: page.evaluate("localStorage.getItem('answers')")
        quiz.locator("input").first.focus()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        assert quiz.locator("input").nth(3).is_checked()
        assert quiz.locator(".said:visible").count() == 0 and stored() is None
        page.keyboard.press("Enter")
        assert quiz.locator("li").nth(3).locator(".said").is_visible() and stored()
        other = page.locator(".quiz").nth(1)
        other.locator("input").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")  # leaves the choices
        other.locator("li").nth(1).locator(".said").wait_for()


def test_guesses_are_shown_again_at_the_end(browser, address):
    with opened(browser, f"{address}/en/gru.html") as page:
        guesses = page.locator(".guesses")
        assert guesses.is_hidden()
        page.locator(".guess textarea").fill("the state stays below one")
        assert guesses.locator("li").all_text_contents() == ["the state stays below one"]
        page.reload()
        assert page.locator(".guess textarea").input_value() == "the state stays below one"
        assert guesses.locator("a").get_attribute("href") == "#exercise-counting"
        page.locator(".guess textarea").fill(" ")
        assert guesses.is_hidden()


def test_questions_answer_without_a_script(browser, address):
    with opened(browser, f"{address}/en/gru.html", java_script_enabled=False) as page:
        quiz = page.locator(".quiz").first
        assert quiz.locator(".said:visible").count() == 0
        quiz.locator("input").nth(1).check()
        assert quiz.locator("li").nth(1).locator(".said").is_visible()
        assert quiz.locator(".said:visible").count() == 1
        assert page.locator(".guess").first.is_hidden()


def test_printed_pages_show_choices_and_the_key_but_no_answer(browser, address):
    with opened(browser, f"{address}/en/gru.html") as page:
        page.locator(".quiz input").first.check()
        page.emulate_media(media="print")
        assert page.locator(".said:visible").count() == page.locator(".quiz input:visible").count() == 0
        assert page.locator(".quiz-key").is_visible() and page.locator(".quiz li").first.is_visible()

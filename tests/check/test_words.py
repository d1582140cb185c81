"""Check the checker's words: complete in every language, with links to existing places."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from book.editions import finished
from book.tools import headings
from companion.check import check
from companion.check.__main__ import mistakes
from companion.check.engine import messages
from companion.check.engine.finding import Finding
from companion.check.engine.question import all_questions
from tests.check.small_answers import only_i_differs, right_gates

FINISHED = [edition.language for edition in finished()]
pytestmark = pytest.mark.usefixtures("short_search")


def files_of(language):
    """Return a language's files: the one that all assignments share, and one for each."""
    return [messages.WORDS / f"{language}.toml", *sorted((messages.WORDS / language).glob("*.toml"))]


def keys_of(table, before=()):
    for key, entry in table.items():
        yield from keys_of(entry, (*before, key)) if isinstance(entry, dict) else [".".join((*before, key))]


@pytest.mark.parametrize("language", messages.languages())
def test_no_words_are_in_two_files(language):
    """The later file would replace the earlier for all assignments."""
    files_by_key = {}
    for file in files_of(language):
        for key in keys_of(tomllib.loads(file.read_text(encoding="utf-8"))):
            files_by_key.setdefault(key, []).append(file.relative_to(messages.WORDS).as_posix())
    twice = {key: files for key, files in files_by_key.items() if len(files) > 1}
    assert twice == {}, f"in companion/check/words/ these stand more than once: {twice}"


def test_every_variant_has_words_and_no_others_do():
    """Check English only; the test of all languages below compares the others with it."""
    variants = {variant for question in all_questions().values() for variant in question.variants}
    described = messages.words("en")["variants"]
    assert variants - {*described} == set(), "[variants] in companion/check/words/en/<assignment>.toml lacks these"
    assert {*described} - variants == set(), (
        "[variants] in companion/check/words/en/ has words for what no question has"
    )


def entries(language):
    """Return a language's own words by table and key, without English for the gaps."""
    tables = messages.own_words(language)
    mistakes = tables.pop("mistakes")
    return tables | {f"mistakes.{name}": entry for name, entry in mistakes.items()}


@pytest.mark.parametrize("language", FINISHED)
def test_finished_editions_have_words(language):
    assert language in messages.languages(), f"write companion/check/words/{language}.toml, or call the edition a draft"


@pytest.mark.parametrize("language", messages.languages())
def test_every_mistake_has_words_and_no_words_are_left_over(language):
    """Languages of drafts may lack some."""
    file = f"companion/check/words/{language}.toml or {language}/<assignment>.toml"
    described = {
        name.removeprefix("mistakes."): entry for name, entry in entries(language).items() if "mistakes." in name
    }
    expected = dict.fromkeys(map(messages.entry_of, mistakes()))
    if language in FINISHED:
        lacking = [f"[mistakes.{name}]" for name in expected if set(described.get(name, ())) < {"says", "advice"}]
        assert lacking == [], f"write in {file}, each with `says` and `advice`: {', '.join(lacking)}"
    variants = {f"variant_{name}" for question in all_questions().values() for name in question.variants}
    more = [name for name in described if name not in {*expected, *variants}]  # variants may have words of their own
    assert more == [], f"{file} has words for mistakes that no question has: {', '.join(more)}"
    for name, entry in described.items():
        assert set(entry) <= {"says", "advice"} and all(entry.values()), f"{file}, [mistakes.{name}]: {entry}"
        assert "\n" not in entry.get("says", ""), f"{file}, [mistakes.{name}]: `says` is one line"


@pytest.mark.parametrize("language", messages.languages())
def test_all_languages_have_the_same_words_and_placeholders(language):
    file, english, own = f"companion/check/words/{language}[.toml]", entries("en"), entries(language)
    both = {(table, key): text for table in english for key, text in english[table].items()}
    texts = {(table, key): text for table in own for key, text in own[table].items()}
    more, lacking = (
        [f"{key} of [{table}]" for table, key in keys] for keys in (texts.keys() - both, both.keys() - texts)
    )
    assert more == [], f"{file} has what the English words have not: {', '.join(more)}"
    lacking = [name for name in lacking if "[mistakes." not in name]  # the test above checks these
    assert lacking == [] or language not in FINISHED, f"{file} lacks {', '.join(lacking)}"
    for place, text in texts.items():
        put_in = [sorted(re.findall(r"{\w+}", words)) for words in (both[place], text)]
        assert put_in[0] == put_in[1], f"{file}, {place}: in English {put_in[0]} are put in, here {put_in[1]}"


def test_language_without_words_gets_english_and_a_notice():
    notice = "The checker does not speak `xx` yet: this is English. It speaks "
    for answer in (right_gates, all_gates_wrong):
        english, other = check("gates", answer).paragraphs, check("gates", answer, lang="xx").paragraphs
        assert other[:-1] == english and other[-1].startswith(notice) and "`xx`" not in repr(english)
    assert not any(messages.untranslated_notice(language) for language in messages.languages())


def test_missing_words_of_a_language_are_english(tmp_path):
    shutil.copy(messages.WORDS / "en.toml", tmp_path)
    shutil.copytree(messages.WORDS / "en", tmp_path / "en")
    begun = (
        '[results]\nwrong = "**Todavía no.** `{question}`:"\n[mistakes.not_written]\nsays = "Aún no está escrito."\n'
    )
    (tmp_path / "xx.toml").write_text(begun, encoding="utf-8")
    english, tables = messages.words("en"), messages.words("xx", tmp_path)
    assert tables["results"] == english["results"] | {"wrong": "**Todavía no.** `{question}`:"}
    assert tables["mistakes"]["not_written"] == english["mistakes"]["not_written"] | {"says": "Aún no está escrito."}
    assert tables["axes"] == english["axes"] and tables["mistakes"].keys() == english["mistakes"].keys()


def test_advice_with_a_window_says_where_it_begins():
    for language in messages.languages():
        for name in ("target_in_window", "target_one_late"):
            said = messages.of_mistake(name, language)["advice"].partition("`series[k +")[0]
            assert re.search(r"\bk\b|k(?=[に에から开])", said), (language, name)


def test_every_axis_has_words():
    axes = messages.words("en")["axes"]
    for question in all_questions().values():
        new = {axis for names in question.axes.values() for axis in names} - set(axes)
        assert not new, f"{question.name} has axes that [axes] in companion/check/words/en.toml has no words for: {new}"


def test_place_missing_in_an_edition_is_the_english_one(tmp_path, monkeypatch):
    for language in ("en", "ja"):
        edition = messages.places(language) | {"site": f"https://example.org/book/{language}/"}
        kept = (
            edition["places"]
            if language == "en"
            else {"lstm#from-cell-to-layer": edition["places"]["lstm#from-cell-to-layer"]}
        )
        (tmp_path / f"{language}.json").write_text(json.dumps(edition | {"places": kept}), encoding="utf-8")
    monkeypatch.setattr(messages, "PLACES", tmp_path)
    monkeypatch.setattr(messages, "places", messages.places.__wrapped__)
    sayer = messages.FindingText(all_questions()["lstm"], None, None, "ja")
    assert "LSTM：" in sayer.pointer("lstm#from-cell-to-layer") and "/ja/lstm.html#from-cell-to-layer" in sayer.pointer(
        "lstm#from-cell-to-layer"
    )
    assert "LSTM: " in sayer.pointer("lstm#six-equations") and "/en/lstm.html#six" in sayer.pointer(
        "lstm#six-equations"
    )


def test_pointer_is_translated_and_links_to_the_site(monkeypatch, short_vain_search):
    def read(language):
        return check("gates", only_i_differs, lang=language).paragraphs[-1]

    assert read("en") == "Read again: section “Six equations” of “LSTM: choosing what to forget”."
    assert read("zh").startswith("可以回头再读：《LSTM：")
    places = messages.places("en") | {"site": "https://example.org/book/en/"}
    monkeypatch.setattr(messages, "places", lambda language: places)
    assert "”](https://example.org/book/en/lstm.html#six-equations)." in read("en")
    assert "forget” <https://example.org/book/en/lstm.html#six-equations>." in messages.as_text(read("en"))


@pytest.mark.parametrize("site", ["", "https://example.org/"])
def test_a_section_is_named_once(site, monkeypatch):
    places = messages.places("en")
    monkeypatch.setattr(messages, "places", lambda language: places | {"site": site})
    of_section = {}
    for place, (page, section) in places["places"].items():
        of_section.setdefault((page, section), []).append(place)
    (first, second), (third, _) = [cells[:2] for cells in of_section.values() if len(cells) > 1][:2]
    question = replace(all_questions()["gates"], mistakes=dict(zip(("a", "b", "c"), (first, third, second))))
    monkeypatch.setattr(messages, "of_mistake", lambda name, *_: {"says": name, "advice": ""})
    text = messages.FindingText(question, None, Finding(["a", "b", "c"], known=True), "en")
    pages = [text.pointer(place) for place in (first, third)]
    assert text.paragraphs()[-1] == text.say("read", places=text.listed(pages))


def test_cells_belong_to_the_heading_above():
    by_cell = headings.headings("en", "lstm")
    cells = json.loads(Path("book/en/lstm.ipynb").read_text(encoding="utf-8"))["cells"]
    assert list(by_cell) == [cell["id"] for cell in cells]
    assert {title for title, _ in by_cell.values()} == {"LSTM: choosing what to forget"}
    assert by_cell[cells[0]["id"]][1] == "" and by_cell["loop"][1] != by_cell["six-equations"][1] != ""


@pytest.mark.parametrize("language", messages.languages())
def test_words_have_no_accidental_markdown(language):
    """Words may have only `…` as markup, and `**…**` at the beginning of a result."""
    tables = messages.words(language)
    checked = {table: tables[table] for table in ("results", "traits", "axes", "variants")} | tables["mistakes"]
    for table, entries in checked.items():
        for key, text in entries.items():
            begins = table == "results" and (
                key in ("wrong", "trained", "variant") or re.fullmatch(r"right(_plainly)?(_with_gradients)?", key)
            )
            assert tags(text) == ({"strong"} if begins else set()), (table, key, text)
    for name in mistakes():
        entry = messages.of_mistake(name, language)
        assert tags(f"**{entry['says']}** {entry['advice']}") == {"strong"}, name


def tags(text):
    tokens = MarkdownIt().parse(text)
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"]), text
    inner = [token for block in tokens for token in block.children or ()]
    assert not any("*" in token.content for token in inner if token.type == "text"), text
    return {token.tag for token in inner} - {"", "code"}


def test_lists_are_joined_with_the_comma_of_the_language(short_vain_search):
    assert "`i`、`f`、`g`、`o`" in repr(check("gates", all_gates_wrong, lang="ja"))
    assert "`i`, `f`" in repr(check("gates", all_gates_wrong))


def all_gates_wrong(*arguments):
    return [gate + 1 for gate in right_gates(*arguments)]


def test_text_keeps_backticks_of_code():
    assert messages.as_text("**Not** `1 - g**2` and `h**2`.") == "Not `1 - g**2` and `h**2`."


LONG_LIST = "import companion.check.__main__ as main; main.mistakes = lambda: ['raises_error'] * 20_000; main.run()"


@pytest.mark.heavy
@pytest.mark.parametrize("command", [("-c", LONG_LIST), ("-m", "companion.check")])
def test_list_ends_silently_with_its_pipe(command):
    process = subprocess.Popen([sys.executable, *command, "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 0
    process.stderr.close()


def test_list():
    command = [sys.executable, "-m", "companion.check", "--list"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == mistakes()
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+\t[^\t]+", line) for line in lines)

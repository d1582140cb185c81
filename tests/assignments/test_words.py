"""The grader's words, in every language."""

import re
import shutil
import tomllib

import pytest

from assignments import words
from book.editions import finished
from companion.check.engine import messages
from tests.project.paths import ROOT

FINISHED = [edition.language for edition in finished()]


def own_words(language):
    """Return a language's own words: {keys joined by dots: text}."""

    def flat(entries, before=""):
        for key, entry in entries.items():
            yield from flat(entry, f"{before}{key}.") if isinstance(entry, dict) else [(before + key, entry)]

    path = ROOT / "assignments" / "words" / f"{language}.toml"
    return dict(flat(tomllib.loads(path.read_text(encoding="utf-8")))) if path.is_file() else {}


@pytest.mark.parametrize("language", sorted({*FINISHED, *messages.languages(ROOT / "assignments" / "words")}))
def test_all_languages_have_all_words(language):
    """Check all finished languages."""
    file, english, translated = f"assignments/words/{language}.toml", own_words("en"), own_words(language)
    more, lacking = sorted(translated.keys() - english), sorted(english.keys() - translated)
    assert more == [], f"{file} has what the English words have not: {', '.join(more)}"
    assert lacking == [] or language not in FINISHED, f"{file} lacks {', '.join(lacking)}"
    for name, text in translated.items():
        put_in = [sorted(set(re.findall(r"\{\w+\}", word_text))) for word_text in (english[name], text)]
        assert put_in[0] == put_in[1], f"{file}, {name}: in English {put_in[0]} are put in, here {put_in[1]}"


def test_missing_words_fall_back_to_english(tmp_path, monkeypatch):
    shutil.copy(ROOT / "assignments" / "words" / "en.toml", tmp_path)
    begun = '[page]\nhtml = "es"\nstudent = "Estudiante"\n[mistakes.no_answer]\nsays = "No hay respuesta."\n'
    (tmp_path / "xx.toml").write_text(begun, encoding="utf-8")
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    english, spanish = words.words("en"), words.words.__wrapped__("xx")
    assert spanish["page"] == english["page"] | {"html": "es", "student": "Estudiante"}
    assert spanish["mistakes"]["no_answer"] == english["mistakes"]["no_answer"] | {"says": "No hay respuesta."}
    assert spanish["walls"] == english["walls"]

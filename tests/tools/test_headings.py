"""Test the stored headings to which the checker sends students."""

import json
import shutil
from pathlib import Path

import pytest

from book.editions import finished
from book.tools import headings
from companion.check.engine import messages

FINISHED = [edition.language for edition in finished()]


@pytest.mark.parametrize("language", FINISHED)
def test_stored_headings_are_up_to_date(language):
    path = headings.PLACES / f"{language}.json"
    stored = path.read_text(encoding="utf-8") if path.is_file() else ""
    same = stored == headings.text(language)
    assert same, "a heading or place has changed: run `python -m book.tools.headings`"


def test_a_draft_has_the_headings_of_its_cells(tmp_path, monkeypatch):
    (tmp_path / "book" / "xx").mkdir(parents=True)
    shutil.copy("_config.yml", tmp_path)
    chapter = json.loads(Path("book/ja/lstm.ipynb").read_text(encoding="utf-8"))
    chapter["cells"] = [cell for cell in chapter["cells"] if cell["id"] != "forget-bias"]
    (tmp_path / "book" / "xx" / "lstm.ipynb").write_text(json.dumps(chapter), encoding="utf-8")
    monkeypatch.setattr(headings, "ROOT", tmp_path)
    places = messages.places("ja")["places"]
    expected = {
        place: words
        for place, words in places.items()
        if place.startswith("lstm#") and place != "forget_bias#forget-bias"
    }
    assert "forget_bias#forget-bias" in places and headings.table("xx")["places"] == expected
    with pytest.raises(ValueError, match="companion/check/questions/ lead to cells that no chapter has: .*embedding#"):
        headings.table("en")

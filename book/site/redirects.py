"""Lead old addresses to the places that book/moved.yml names: from pages that are gone, and from cells that have left.

A page that is gone becomes a small one that leads on; a page that cells have left gets a script in its head.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from book import moved
from book.editions import ORIGINAL, Edition
from book.site.root_files import template_environment, translate

# MOVED: anchor → new address, with "" for an address without an anchor. PAGE: the page that has the other anchors now.
SCRIPT = """<script>
(() => {
  const moved = MOVED, page = PAGE;
  const follow = () => {
    const anchor = location.hash.slice(1);
    if (anchor && document.getElementById(anchor)) return;
    if (Object.hasOwn(moved, anchor)) location.replace(moved[anchor]);
    else if (page) location.replace(page + location.hash);
  };
  addEventListener("hashchange", follow);
  follow();
})();
</script>
"""


table = cache(moved.read)  # once for all pages of a build


def address(place: str, edition: Edition) -> str:
    """Return the address of a place from the pages of an edition: the English one if the edition lacks the page."""
    page, _, cell = place.partition("#")
    folder = "" if page in edition.pages else f"../{ORIGINAL}/"
    return f"{folder}{page}.html{f'#{cell}' if cell else ''}"


def script(edition: Edition, places: dict[str, str], page: str = "") -> str:
    """Return the script that leads from anchors to places. page: the address for the other anchors, or ""."""
    addresses = {anchor: address(place, edition) for anchor, place in places.items()}
    return SCRIPT.replace("MOVED", json.dumps(addresses)).replace("PAGE", json.dumps(page))


def page_script(edition: Edition, page: str) -> str:
    """Return the script for a page that cells have left, or "" if none has."""
    cells = moved.moved_cells(page, table())
    return script(edition, cells) if cells else ""


def write(site: Path, built: Iterable[Edition]) -> None:
    """Write the pages that lead on into the folders of these editions."""
    template = template_environment().get_template("moved.html")
    for edition in built:
        for page, place in moved.gone_pages(table()).items():
            target = address(place, edition)
            places = {"": place, **moved.moved_cells(page, table())}
            values = {
                "edition": edition,
                "target": target,
                "title": title(site / edition.language / target.partition("#")[0]),
                "script": script(edition, places, target.partition("#")[0]),
                "before_and_after": translate(edition, "This page has moved: %(link)s").split("%(link)s"),
            }
            (site / edition.language / f"{page}.html").write_text(template.render(values), encoding="utf-8")


def title(path: Path) -> str:
    """Return the title of a built page, or its file name if it is not built."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return match[1] if (match := re.search(r"<title>(.*?)</title>", text)) else path.name

"""Fixtures of the pages that run their cells."""

import json
import shutil
from pathlib import Path

import pytest

from book import editions
from book.live import page_scripts
from tests.site.whole_site import serving

FAKE = Path(__file__).parent / "fake"


@pytest.fixture(scope="module")
def offering_site(site, tmp_path_factory):
    """The folder of a site of one English page, which offers to run its cells."""
    folder = tmp_path_factory.mktemp("offered")
    shutil.copytree(site / "en/_static", folder / "en/_static")
    shutil.copy(site / "en/first_network.html", folder / "en")
    shutil.copytree(FAKE, folder / "live")
    thread = folder / "live/thread"
    thread.mkdir()
    shutil.copy(FAKE / "worker.js", thread)
    shutil.copy(Path(page_scripts.__file__).with_name("kernel.js"), thread)
    for place, files in ((thread, {}), (thread / "lost", {"lost": 1})):
        place.mkdir(exist_ok=True)
        (place / "manifest.json").write_text(json.dumps({"files": files, "size": 2}))
    page_scripts.add_scripts(folder, [one for one in editions.editions() if one.language == "en"])
    return folder


@pytest.fixture(scope="module")
def offered(offering_site):
    """The address under which it is served."""
    with serving(offering_site) as (address, _):
        yield address

"""Fixtures of pages that run their cells on a stand-in for Python."""

import shutil
from pathlib import Path

import pytest

from book import editions
from book.live import page_scripts
from tests.live import on_small_torch
from tests.site.whole_site import serve

FAKE = Path(__file__).parent / "fake"


@pytest.fixture(scope="session")
def code(tmp_path_factory):
    """Return a folder with the book's code, laid out as for pages."""
    folder = tmp_path_factory.mktemp("code")
    on_small_torch.copy_code(folder)
    return folder


@pytest.fixture(scope="module")
def fake_live_site(site, tmp_path_factory):
    """Return the folder of a site of one English page whose cells run on the stand-in."""
    folder = tmp_path_factory.mktemp("live")
    shutil.copytree(site / "en/_static", folder / "en/_static")
    shutil.copy(site / "en/first_network.html", folder / "en")
    shutil.copytree(FAKE, folder / "live")
    thread = folder / "live/thread"
    thread.mkdir()
    shutil.copy(FAKE / "worker.js", thread)
    shutil.copy(Path(page_scripts.__file__).with_name("kernel.js"), thread)
    page_scripts.add_scripts(folder, [edition for edition in editions.editions() if edition.language == "en"])
    return folder


@pytest.fixture(scope="module")
def fake_live_address(fake_live_site):
    """Serve the site; return its address."""
    with serve(fake_live_site) as (address, _):
        yield address

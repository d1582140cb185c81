"""Add what depends on the addresses in _config.yml to the package's metadata: the links, and README.md with them."""

import re
from pathlib import Path

import yaml
from setuptools import setup

ROOT = Path(__file__).resolve().parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")  # a link or picture inside the repository


def read_addresses():
    """Return the addresses of the site and of the repository, and its branch; an address that is not set is empty."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    site, repository = config["html"]["baseurl"], config["repository"]
    return site.rstrip("/"), repository["url"].rstrip("/"), repository["branch"]


def describe(text, repository, branch):
    """Return a text whose links lead to the repository. Without its address, leave links and pictures out."""

    def absolute(match):
        picture, words, path = match.groups()
        if repository:
            return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/{branch}/{path})"
        return "" if picture else words

    parts = re.split(r"(?ms)(^```.*?^```)", text)  # text and code in turn
    return "".join(part if k % 2 else LINK.sub(absolute, part) for k, part in enumerate(parts))


def links(site, repository, branch):
    """Return label → address, for the page of the package in an index."""
    inside = {"Source": repository, "Changes": f"{repository}/blob/{branch}/CHANGELOG.md"} if repository else {}
    return inside | ({"Documentation": site} if site else {})


site, repository, branch = read_addresses()
setup(
    long_description=describe((ROOT / "README.md").read_text(encoding="utf-8"), repository, branch),
    long_description_content_type="text/markdown",
    project_urls=links(site, repository, branch),
)

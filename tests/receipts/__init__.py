"""Receipts: what has passed need not run again until something that it rests on changes. `pytest --receipts`

A unit is a file of tests, a notebook, or a single test of the built site. While units run, every reading of a file of
the project is noted (reads.py). A unit that passes gets a receipt: a digest of all that it reaches through imports and
readings (graph.py), of Python, packages, processor and browser (machine.py), and of the names of all files, since what
is not there is not read. As long as the digest stays the same, the unit is left out, and the summary says so.

Receipts lie in _build/receipts, on the machine where they were made. Where CI is set there are none.
"""

import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from . import machine
from .graph import KEPT, Graph, sha
from .reads import BUILT, LOG, OWNER, ROOT, of, watch

STORE = ROOT / "_build" / "receipts" / "store.json"
SITE = "tests/conftest.py::site"  # what its tests see of the site counts, not what it is made of
ALWAYS = "conftest.py", "tests/conftest.py"
MOST = 20_000  # receipts that are kept


def pytest_addoption(parser):
    parser.addoption("--receipts", action="store_true", help="leave out what has passed and rests on nothing that has changed since")


def pytest_configure(config):
    if not config.getoption("--receipts") or "CI" in os.environ:
        return
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Watcher(config, config.workerinput["relied"]), "receipts-watcher")
    else:
        keeper = Keeper(config)
        config.pluginmanager.register(keeper, "receipts-keeper")
        if not config.getoption("numprocesses", None):
            config.pluginmanager.register(Watcher(config, keeper.relied, keeper), "receipts-watcher")


def name_of(path):
    try:
        return Path(path).relative_to(ROOT).as_posix()
    except ValueError:
        return None


def unit_of(item):
    """What an item is proved with: its file; itself, if it looks at the built site."""
    file = name_of(item.path)
    if "site" in getattr(item, "fixturenames", ()):
        return item.nodeid
    return f"{file}|heavy" if item.get_closest_marker("heavy") else file


class Watcher:
    """In each process that runs tests: leaves out what is relied on, and notes who reads what."""

    def __init__(self, config, relied, keeper=None):
        self.config, self.keeper = config, keeper
        self.files, self.units, self.reach = {*relied["files"]}, {*relied["units"]}, relied["reach"]
        self.owner, self.read, self.found = None, {}, {}
        watch(self.note)

    def note(self, reader, file):
        """An item or fixture owns what a conftest.py reads for it, and what it sees of the built site."""
        if file.startswith(BUILT) or reader is None or reader.endswith("conftest.py") and self.owner:
            reader = self.owner
        if reader is not None and reader != file:
            self.read.setdefault(reader, set()).add(file)

    def own(self, owner):
        before, self.owner = self.owner, owner
        if owner is None:
            os.environ.pop(OWNER, None)
        else:
            os.environ[OWNER] = owner
        return before

    def pytest_ignore_collect(self, collection_path):
        return True if name_of(collection_path) in self.files else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        kept, left = [], []
        for item in items:
            unit = unit_of(item)
            about = self.found.setdefault(unit, {"file": name_of(item.path), "items": [], "fixtures": set()})
            about["items"].append(item.nodeid)
            about["fixtures"] |= {*fixtures_of(item)}
            (left if unit in self.units else kept).append(item)
        if left:
            items[:] = kept
            config.hook.pytest_deselected(items=left)
        if config.option.maxfail == 1:  # with -x first those that rest on little: what is wrong is soonest met there
            items.sort(key=lambda item: self.reach.get(name_of(item.path), 0))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = self.own(item.nodeid if "site" in getattr(item, "fixturenames", ()) else name_of(item.path))
        try:
            return (yield)
        finally:
            self.own(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        if fixturedef.scope == "function":
            return (yield)
        before = self.own(node_of(fixturedef))
        try:
            return (yield)
        finally:
            self.own(before)

    def pytest_sessionfinish(self, session):
        found = {unit: about | {"fixtures": sorted(about["fixtures"])} for unit, about in self.found.items()}
        said = {"read": {reader: sorted(files) for reader, files in self.read.items()}, "found": found}
        if self.keeper:
            self.keeper.hear(said)
        else:
            session.config.workeroutput["receipts"] = json.dumps(said)


def node_of(fixturedef):
    """The node of a fixture: the file in which it stands, and its name. A package's are no file of the project."""
    return f"{of(fixturedef.func.__code__.co_filename) or 'conftest.py'}::{fixturedef.argname}"


def fixtures_of(item):
    """The nodes of the project's fixtures that an item asks for."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    nodes = [node_of(one) for name in getattr(item, "fixturenames", ()) for one in known.get(name, ())]
    return [node for node in nodes if node != SITE and not node.startswith("conftest.py::")]


class Keeper:
    """In the process that the user started: says what is relied on, and writes receipts at the end."""

    def __init__(self, config):
        self.config = config
        try:
            stored = json.loads(STORE.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            stored = {}
        self.read, self.members = stored.get("read", {}), stored.get("members", {})
        self.proved = stored.get("proved", {})
        self.graph = Graph(self.read)
        self.ground = sha("\n".join([*machine.facts(), *self.graph.outer(), *sorted(self.graph.names)]).encode())
        self.log = tempfile.mkdtemp(prefix="unrolled-reads-")
        os.environ[LOG] = self.log
        paths = [str(Path(__file__).parent / "child"), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        self.found, self.heard = {}, {}
        self.failed, self.passed = set(), set()
        self.built = True
        if self.proved:
            self.build()
        self.relied = self.rely()

    def build(self):
        """Build the site if what it is made of has changed: which of its tests can be left out is seen by what is built."""
        if any("::" in unit for member in self.members.values() for unit in member):
            import whole_site  # of tests/

            try:
                whole_site.built()
            except AssertionError:  # the tests that open it will say what is wrong
                self.built = False

    def key(self, unit, about):
        """What a unit rests on, as a digest."""
        nodes = [about["file"], *about["fixtures"], *ALWAYS]
        if "::" in unit:
            nodes.append(unit)
        built = sha("\n".join(self.graph.built()).encode()) if "::" in unit else ""
        return sha(f"{unit} {self.graph.digest(*nodes)} {built} {self.ground}".encode())

    def file_key(self, file):
        return f"{file} {self.graph.digest(file, *ALWAYS)} {self.ground} {bool(self.config.getoption('--prove', False))}"

    def rely(self):
        """{"files": those that need not be opened, "units": those that need not run, "reach": on how many a file rests}"""
        files, units, reach = [], [], {}
        for key, member in self.members.items():
            file = key.partition(" ")[0]
            reach[file] = len(self.graph.reached(file))
            if key != self.file_key(file):
                continue
            good = [unit for unit, about in member.items() if self.key(unit, about) in self.proved and (self.built or "::" not in unit)]
            units += good
            if len(good) == len(member):
                files.append(file)
        return {"files": sorted({*files}), "units": sorted({*units}), "reach": reach}

    # What the processes report

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["relied"] = self.relied

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        said = getattr(node, "workeroutput", {}).get("receipts")
        if said:
            self.hear(json.loads(said))

    def hear(self, said):
        for reader, files in said["read"].items():
            self.heard.setdefault(reader, set()).update(files)
        self.found |= said["found"]

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" or report.skipped:
            self.passed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        self.from_programs()
        before, self.graph = self.graph, Graph(self.read)
        changed = {name for name, version in before.versions.items() if self.graph.version(name) != version}
        for reader, files in self.heard.items():
            self.graph.note(reader, files)
        good = self.passed - self.failed
        partly = self.config.option.keyword or any("::" in one for one in self.config.args)
        members = {}
        for unit, about in self.found.items():
            members.setdefault(about["file"], {})[unit] = {"file": about["file"], "fixtures": about["fixtures"]}
            if not partly and {*about["items"]} <= good and not changed & self.graph.reached(about["file"], *about["fixtures"]):
                self.proved[self.key(unit, about)] = time.strftime("%Y-%m-%d %H:%M")
        if not partly:
            for file, member in members.items():
                key = self.file_key(file)
                self.members.pop(key, None)  # the latest stands last
                self.members[key] = member
                for old in [one for one in self.members if one.startswith(f"{file} ")][:-KEPT]:
                    del self.members[old]
        self.write()
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.relied["units"]:
            session.exitstatus = pytest.ExitCode.OK

    def from_programs(self):
        """What programs that tests started have written down."""
        for file in Path(self.log).glob("*.tsv"):
            for line in file.read_text(encoding="utf-8").splitlines():
                reader, _, name = line.partition("\t")
                if name.startswith(BUILT) or not reader:
                    continue
                self.heard.setdefault(reader, set()).add(name)
        shutil.rmtree(self.log, ignore_errors=True)

    def write(self):
        self.proved = dict(sorted(self.proved.items(), key=lambda one: one[1])[-MOST:])
        STORE.parent.mkdir(parents=True, exist_ok=True)
        stored = {"read": self.read, "members": self.members, "proved": self.proved}
        part = STORE.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(stored), encoding="utf-8")
        part.replace(STORE)

    def pytest_terminal_summary(self, terminalreporter):
        if files := self.relied["files"]:
            singly = len(self.relied["units"])
            terminalreporter.write_line(
                f"Relied on receipts of earlier runs (_build/receipts) for {len(files)} files, {singly} units in all: {', '.join(files)}"
            )

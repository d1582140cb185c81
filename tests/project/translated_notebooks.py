"""Compare translated notebooks with the run of the English one, where their outputs follow from it.

nbval collects every notebook and every cell. A translated notebook whose outputs all follow from the English ones
(book/tools/translated_outputs.py) needs no kernel: each cell is compared with the outputs that the English cell has
just given. All other notebooks run in kernels of their own, and with `--own-kernels` all do.
"""

import functools
import logging

import nbformat
import nbval.plugin
import pytest
from xdist.scheduler import LoadFileScheduling

from book.editions import ORIGINAL
from book.tools import translated_cells, translations


def pytest_addoption(parser):
    parser.addoption("--own-kernels", action="store_true", help="run every translated notebook in a kernel of its own")


def start_kernel(*arguments, **options):
    """Start a kernel as nbval does; try once more if another program has taken its port meanwhile."""
    try:
        return start_kernel_once(*arguments, **options)
    except RuntimeError as error:
        logging.getLogger(__name__).warning("a kernel is started once more: %s", error)
        return start_kernel_once(*arguments, **options)


start_kernel_once = nbval.plugin.RunningKernel
nbval.plugin.RunningKernel = start_kernel


@functools.cache
def english_path(path):
    """Return the path of the English notebook from which the outputs of this one follow, or None."""
    if path.suffix != ".ipynb" or path.parent.name not in translations.editions():
        return None
    language = path.parent.name
    for page, own in translations.pages(language).items():
        if own == path:
            return None if translations.cells_to_run(language, page) else translations.pages(ORIGINAL).get(page)
    return None


class TranslatedNotebook(nbval.plugin.IPyNbFile):
    """A notebook whose cells are compared with the run of the English one, if that is among the tests."""

    english = None

    def setup(self):
        english, rest = english_path(self.path), self.config.getoption("rest", False)
        if english is None or not rest and not any(item.path == english for item in self.session.items):
            super().setup()
            return
        if rest:  # `make test` has compared the English outputs with a run
            fresh.update(((english, cell.id), cell) for cell in translations.read(english))
        self.english = english
        self.functions = translated_cells.called_functions(translations.read(english), translations.read(self.path))

    def collect(self):
        for cell in super().collect():
            yield TranslatedCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )


class TranslatedCell(nbval.plugin.IPyNbCell):
    """A cell that is compared with the run of the English cell, if there is one."""

    def runtest(self):
        if self.parent.english is None:
            super().runtest()
            return
        english = fresh.get((self.parent.english, self.cell.id))
        if english is None:
            self.raise_cell_error("The English cell has not run")
        functions = self.parent.functions[self.cell.id]
        if not translated_cells.follows(english, self.cell, self.path.parent.name, functions):
            shown = nbformat.writes(nbformat.v4.new_notebook(cells=[english]))
            self.raise_cell_error("The outputs do not follow from those of the English cell", shown)


fresh = {}  # (path, id) → English cell with the outputs of this run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    finally:
        if isinstance(item, nbval.plugin.IPyNbCell) and item.test_outputs is not None:
            outputs = nbval.plugin.coalesce_streams(item.test_outputs)
            fresh[item.path, item.cell.id] = nbformat.v4.new_code_cell(
                item.cell.source, id=item.cell.id, outputs=outputs
            )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    collectors = yield
    if parent.config.getoption("--own-kernels") or file_path.parent.name == ORIGINAL:
        return collectors
    return [
        TranslatedNotebook.from_parent(parent, path=file_path)
        if isinstance(collector, nbval.plugin.IPyNbFile)
        else collector
        for collector in collectors
    ]


class ChapterScheduling(LoadFileScheduling):
    """Give workers whole files, and each English notebook together with its translations."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        if (
            not file.endswith(".ipynb")
            or self.config.getoption("--own-kernels")
            or self.config.getoption("rest", False)
        ):
            return file
        english = english_path(self.config.rootpath / file)
        return english.relative_to(self.config.rootpath).as_posix() if english else file


def pytest_xdist_make_scheduler(config, log):
    return ChapterScheduling(config, log)

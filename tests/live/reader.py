"""Use a page whose cells run as a reader does."""

from book.live import page_scripts

DONE = "!document.querySelector('[data-run=waiting], [data-run=running]')"


class Reader:
    """The page of a notebook. Cells are given by number or id, buttons by their text or by its key in the words."""

    def __init__(self, page, notebook, language="en"):
        self.page, self.words = page, page_scripts.words(language)
        self.cells = [cell["id"] for cell in page_scripts.read_cells(notebook)]

    def cell(self, which):
        return self.page.locator(f"#{which if isinstance(which, str) else self.cells[which]} + .cell")

    def button(self, which, name="run"):
        return self.cell(which).get_by_role("button", name=self.words.get(name, name)).first

    def bar(self, name):
        """Return a button of the bar at the bottom of the window."""
        return self.page.locator(".run-bar").get_by_role("button", name=self.words.get(name, name))

    def outputs(self, which):
        return self.cell(which).locator(".run-output")

    def run(self, which):
        self.button(which).click()

    def alone(self, which):
        """Run one cell and no other, to its end."""
        cell = self.cell(which).element_handle()
        cell.evaluate("cell => { delete cell.dataset.run; }")  # the state of an earlier run
        self.begin_alone(which)
        self.ended(cell)

    def begin_alone(self, which):
        self.button(which, "more_label").click()
        self.page.get_by_role("menuitem", name=self.words["run_alone"]).click()

    def ended(self, cell):
        """Wait until a cell (an element handle) has run and its last output is drawn, which is in the next frame."""
        self.page.wait_for_function("cell => ['done', 'failed'].includes(cell.dataset.run)", arg=cell)
        self.page.evaluate("new Promise(requestAnimationFrame)")

    def code(self, which):
        """Return the open editor of a cell."""
        editor = self.cell(which).get_by_role("textbox").first
        if not editor.count():
            self.button(which, "edit").click()
        return editor

    def write(self, which, text):
        self.code(which).press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def says(self, text):
        self.page.locator(".run-said", has_text=text).wait_for()

    def load(self, which=0):
        """Run a cell for the first time, to its end."""
        self.run(which)
        self.bar("load").click()
        self.says(self.words["ready"])
        self.ended(self.cell(which).element_handle())

    def done(self):
        """Wait until no cell runs or waits."""
        self.page.wait_for_function(DONE)

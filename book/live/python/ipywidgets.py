"""Stand-in for ipywidgets on pages: a state that Python and the page share and can both change."""

import itertools

from traitlets import HasTraits
from traitlets.traitlets import TraitError

shown = {}  # model_id → figure, for changes that the page reports
numbers = itertools.count(1)


class DOMWidget(HasTraits):
    """A widget whose state is its traits with `sync=True`."""

    def __init__(self, **values):
        super().__init__(**values)
        self.model_id = str(next(numbers))
        self.on_page, self.received = False, None
        self.observe(self.send_change, names=[*self.traits(sync=True)])

    def get_state(self):
        return {name: getattr(self, name) for name in self.traits(sync=True)}

    def receive(self, values):
        """Set values that the page sent; send the old value back for one that the figure rejects."""
        for name, value in values.items():
            if name not in self.traits(sync=True):
                continue
            self.received = name, value
            try:
                setattr(self, name, value)
            except TraitError:
                self.emit({name: getattr(self, name)})
            finally:
                self.received = None

    def send_change(self, change):
        """Send the page a value that Python has changed."""
        if self.on_page and self.received != (change["name"], change["new"]):
            self.emit({change["name"]: change["new"]})

    def emit(self, state):
        from IPython.shell import shell

        shell.emit({"output_type": "figure", "id": self.model_id, "state": state})

    def on_msg(self, callback):
        """Ignore requests for files, which the page answers itself."""

"""What of ipywidgets the figures need: a state that the page has as well, and that both can change."""

import itertools

from traitlets import HasTraits
from traitlets.traitlets import TraitError

shown = {}  # what the page calls a figure → the figure
numbers = itertools.count(1)


class DOMWidget(HasTraits):
    """Its traits with `sync=True` are the state."""

    def __init__(self, **values):
        super().__init__(**values)
        self.model_id = str(next(numbers))
        self.on_page, self.taking = False, None
        self.observe(self.tell, names=[*self.traits(sync=True)])

    def get_state(self):
        return {name: getattr(self, name) for name in self.traits(sync=True)}

    def take(self, values):
        """Values from the page. One that the figure cannot have goes back to what it was, on the page too."""
        for name, value in values.items():
            if name not in self.traits(sync=True):
                continue
            self.taking = name, value
            try:
                setattr(self, name, value)
            except TraitError:
                self.emit({name: getattr(self, name)})
            finally:
                self.taking = None

    def tell(self, change):
        """Tell the page what Python has changed."""
        if self.on_page and self.taking != (change["name"], change["new"]):
            self.emit({change["name"]: change["new"]})

    def emit(self, state):
        from IPython.shell import shell

        shell.emit({"output_type": "figure", "id": self.model_id, "state": state})

    def on_msg(self, callback):
        """Files that a figure asks for the page has itself: there is nothing to answer."""

"""Stand-in for anywidget on pages: only the state of a figure is sent, because the page has its script."""

from ipywidgets import DOMWidget, shown

MIME = "application/vnd.unrolled.figure+json"


class AnyWidget(DOMWidget):
    def _repr_mimebundle_(self, **unused):
        """Return the figure's name, state and the id under which the page reports changes."""
        shown[self.model_id], self.on_page = self, True
        state = {name: value for name, value in self.get_state().items() if name[0] != "_"}
        return {"text/plain": repr(self), MIME: {"name": self.name, "state": state, "id": self.model_id}}, {}

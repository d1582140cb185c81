"""Figures that answer: the page has their scripts already, so only their state is sent."""

from ipywidgets import DOMWidget, shown

MIME = "application/vnd.unrolled.figure+json"


class AnyWidget(DOMWidget):
    def _repr_mimebundle_(self, **unused):
        """The figure for the page, which calls it by `id`."""
        shown[self.model_id], self.on_page = self, True
        state = {name: value for name, value in self.get_state().items() if name[0] != "_"}
        return {"text/plain": repr(self), MIME: {"name": self.name, "state": state, "id": self.model_id}}, {}

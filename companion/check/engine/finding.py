"""A finding about an answer: what is wrong with it, in names and numbers, and the share of the points that is left."""

from dataclasses import dataclass, field

# Mistakes that no switch makes, in the order in which they are said. Words under [mistakes], as for all others.
GENERAL = (
    "library_layer",
    "parameter_names",
    "extra_parameter",
    "tensor_not_parameter",
    "changes_its_input",
    "not_written",
    "called_already",
    "instance_for_class",
    "class_for_function",
    "stopped_early",
    "returns_none",
    "not_a_tensor",
    "wrong_form",
    "not_a_module",
    "not_callable",
    "gates_apart",
    "parameter_missing",
    "parameter_shape",
    "raises_error",
    "single_batch_only",
    "no_gradient",
    "not_a_number",
    "wrong_names",
    "wrong_count",
    "wrong_shape",
    "wrong_values",
    "wrong_gradient",
    "remembers_last_call",
    "other_variant",
    # of networks that were trained: trained_network.py
    "model_too_large",
    "not_learned",
    "not_reached",
    "probabilities_for_logits",
)
# Whoever makes these has given no answer yet that could be wrong.
NO_ANSWER = {"not_written", "called_already", "instance_for_class", "class_for_function"}
NOTES = {
    "renamed": "parameter_names",
    "extra": "extra_parameter",
    "plain": "tensor_not_parameter",
    "changed": "changes_its_input",
}
# Mistakes of which half of the points are left, as every number that the answer gives is right: its parameters are not
# as they should be, or its way back. These are noted where the answer ran: who forges the notes can hide one, and win
# the other half of a question whose numbers are right, but never a point for wrong ones.
HALF = {*NOTES.values()}


@dataclass
class Finding:
    """What is wrong with an answer, in names and numbers; `saying` makes words of it.

    mistakes: names, none if it is right. known: whether they explain all that is wrong. probe: the number of the
    smallest probe on which the answer is wrong, or None. value: the value that is wrong there. first: its first wrong
    place, `expected` and `got` what is there. largest: the largest difference of this value on any probe. spread: on
    the largest of its probes the first wrong place, how many are wrong, and of how many. compared: all values' names.
    wrong: the wrong ones'. missing, unasked: the names that the smallest probe shows to be missing, and to be there
    though nobody asked. stops: the number of a probe that an answer raised an error on, that of `probe` if it did.
    right: what the probes have on which alone the answer is right. error: what an answer raised. trained: the share of
    the points, where a network was trained. reached: how well it did.
    """

    mistakes: list
    known: bool = True
    probe: int | None = None
    value: str | None = None
    first: tuple | None = None
    expected: object = None
    got: object = None
    largest: float | None = None
    spread: tuple | None = None
    compared: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    missing: list = field(default_factory=list)
    unasked: list = field(default_factory=list)
    stops: int | None = None
    right: list = field(default_factory=list)
    error: dict | None = None
    notes: dict = field(default_factory=dict)
    trained: float | None = None
    reached: dict = field(default_factory=dict)

    @property
    def ok(self):
        return not self.mistakes

    @property
    def share(self):
        """Of the points."""
        if self.trained is not None:
            return self.trained
        return 1.0 if self.ok else 0.5 if {*self.mistakes} <= HALF else 0.0

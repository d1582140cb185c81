"""The finding about an answer: its mistakes by name, the numbers that show them, and its share of the points."""

from dataclasses import dataclass, field

# Mistakes that no bank has, in the order in which they are reported. They have words under [mistakes], as all others.
GENERAL = (
    "library_layer",
    "parameter_names",
    "extra_parameter",
    "tensor_not_parameter",
    "changes_its_input",
    "changes_settings",
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
    "infinite",
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
# With these mistakes there is no answer yet that could be wrong.
NO_ANSWER = {"not_written", "called_already", "instance_for_class", "class_for_function"}
NOTES = {
    "renamed": "parameter_names",
    "extra": "extra_parameter",
    "plain": "tensor_not_parameter",
    "changed": "changes_its_input",
    "settings": "changes_settings",
}
# Mistakes that leave half of the points, as every number that the answer gives is right: only its parameters or its
# gradients are not as they should be. They are noted in the answer's process: forged notes can hide one, and win
# the other half of a question whose numbers are right, but never a point for wrong numbers.
HALF = {*NOTES.values()}


@dataclass
class Finding:
    """Mistakes of an answer and the numbers that show them; messages.py puts them into words.

    mistakes: names, none if it is right. known: True if they explain everything that is wrong. probe: the number of a
    probe on which the answer is wrong, or None. smallest: True if the answer is right on all smaller ones. value: the
    name of the value that is wrong there. first: the index of its first wrong number. expected, got: this value, as it
    should be and as it is. largest: its largest difference on any probe. spread: on the largest of its probes, the
    index of the first wrong number, how many are wrong, and of how many. compared: the names of all values given.
    wrong: the names of the wrong ones. missing, unasked: the names that `probe` shows to be missing, or to be there
    unasked. error_probe: the number of a probe on which the answer raised an error, `probe` if it did there. right:
    traits that exactly the right probes have. error: the error that the answer raised. trained_share: the share of the
    points for a trained network. reached: its score, the aim, and how many numbers it has.
    """

    mistakes: list
    known: bool = True
    probe: int | None = None
    smallest: bool = True
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
    error_probe: int | None = None
    right: list = field(default_factory=list)
    error: dict | None = None
    notes: dict = field(default_factory=dict)
    trained_share: float | None = None
    reached: dict = field(default_factory=dict)

    @property
    def ok(self):
        """True if the answer is right."""
        return not self.mistakes

    @property
    def share(self):
        """The share of the points."""
        if self.trained_share is not None:
            return self.trained_share
        return 1.0 if self.ok else 0.5 if {*self.mistakes} <= HALF else 0.0

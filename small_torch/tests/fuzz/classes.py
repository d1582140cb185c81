"""How a statement can differ, from harmless to silent."""

CLASSES = {
    "same": "the same",
    "exception": "order of equal elements, last digit, sign of zero, name of grad_fn",
    "error text": "another error text",
    "refused": "refused in small_torch's sentence",
    "fails": "fails in small_torch only",
    "stride": "another memory order of a result",
    "silent": "silent difference",
}
BLOCKING = ("refused", "fails", "stride", "silent")  # after these the two programs are no longer the same
EXCEPTIONS = ("digit", "zero", "order", "name")  # these differences are accepted

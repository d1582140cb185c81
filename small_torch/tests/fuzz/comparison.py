"""Compare what small_torch did with what torch did, statement by statement."""

import re
import warnings

import numpy as np
from classes import BLOCKING, EXCEPTIONS
from execution import Watch, array_of, limited_time, next_random, run_statement, tensors_in

TOLERANCES = {"float16": 4e-3, "float32": 2e-5, "complex64": 2e-5, "float64": 3e-7, "complex128": 3e-7}
REFUSAL = re.compile("small_torch|small torch")
EQUAL_ORDER = re.compile(r"\.(topk|kthvalue|mode|sort|argsort|median)\(")  # torch promises no order of equal elements
OF_GRAPH = ("requires_grad", "is_leaf", "grad_fn", "text")  # torch's whole numbers sometimes require gradients
PLAIN = ("float", "complex")  # Python's numbers, which may come from a tensor of less precise ones
NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)")


def compare_arrays(theirs, ours, name=None):
    """Return None if two arrays of one type and shape show the same, otherwise how they differ.

    name: that of the type whose last digit may differ, by default theirs.
    """
    if theirs.dtype.kind == "b":  # of any bytes
        theirs, ours = (np.array(array).view(np.uint8) != 0 for array in (theirs, ours))
    if theirs.tobytes() == ours.tobytes():
        return None
    if theirs.dtype.kind not in "fc":
        return "value"
    tolerance = TOLERANCES[name or theirs.dtype.name]
    if theirs.dtype.kind == "c":
        theirs, ours = (np.stack([array.real, array.imag]) for array in (theirs, ours))
    finite = np.isfinite(theirs)
    if not np.array_equal(theirs[~finite], ours[~finite], equal_nan=True):
        return "value"
    theirs, ours = theirs[finite].astype(float), ours[finite].astype(float)
    if np.array_equal(theirs, ours):
        return "zero" if (np.signbit(theirs) != np.signbit(ours)).any() else None
    close = np.abs(theirs - ours).max() <= tolerance * max(1, np.abs(theirs).max())  # False for NaN
    return "digit" if close else "value"


def compare_text(theirs, ours, digits=True):
    """Return None or how two printed texts differ."""
    if theirs == ours:
        return None
    theirs, ours = (
        re.sub(r"\s*(\\n\s*)?(grad_fn=<[^<>]*>|<\w+Backward\w* object at 0x0>)", "grad_fn", text)
        for text in (theirs, ours)
    )
    if theirs == ours:
        return "name"
    theirs, ours = (" ".join(re.sub(r"-(0\.?(e[+-]\d+)?0*)(?![\d.])", r"\1", text).split()) for text in (theirs, ours))
    if theirs.replace(" ", "") == ours.replace(" ", ""):
        return "zero"
    if digits and NUMBER.sub("#", theirs).replace(" ", "") == NUMBER.sub("#", ours).replace(" ", ""):
        pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(theirs), NUMBER.findall(ours))]
        if all(a == b or abs(a - b) <= 2e-4 * max(abs(a), 1e-3) or (a != a and b != b) for a, b in pairs):
            return "digit"
    return "text"


def compare(theirs, ours, path=""):
    """Return the differences of two descriptions: where, what, torch's, small_torch's."""
    found, exact = [], True
    if re.search("int|bool", theirs.get("dtype", "")) and theirs.get("requires_grad") != ours.get("requires_grad"):
        theirs, ours = ({k: v for k, v in x.items() if k not in OF_GRAPH} for x in (theirs, ours))
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        a, b = theirs.get(key), ours.get(key)
        where = f"{path}.{key.removeprefix('part ')}" if isinstance(a, dict) else path
        if key in ("text", "values"):
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            inner = compare(a, b, where)
            found += inner
            exact = exact and not inner
        elif a != b:
            found.append((where, key, short(a), short(b)))
    if not {"type", "dtype", "shape", "broken"} & {what for _, what, _, _ in found}:
        a, b = theirs.get("values"), ours.get("values")
        if a is not None and (what := compare_arrays(a, b, "float32" if theirs["type"] in PLAIN else None)):
            found.append((path, what, short(theirs.get("text", a)), short(ours.get("text", b))))
            exact = False
        a, b = theirs.get("text"), ours.get("text")
        if a is not None and (what := compare_text(a, b, digits=False)) and (exact or what == "name"):
            found.append((path, what, a, b))
    return found


def short(value):
    if isinstance(value, dict):
        return str(value.get("text") or value.get("type"))
    return re.sub(r"\s+", " ", str(value))


def take_numbers(theirs, value):
    """Write torch's numbers into our tensors, so that a last digit that differs does not grow."""
    arrays = []
    collect_arrays(theirs, arrays)
    for x, array in zip(tensors_in(value), arrays):
        mine = array_of(x)
        if mine is None or mine.shape != array.shape or mine.dtype != array.dtype or not mine.flags.writeable:
            continue
        if mine.tobytes() != array.tobytes():
            mine[...] = array


def collect_arrays(description, arrays):
    """Collect the arrays of a description in the order of `tensors_in`."""
    if "values" in description and ("is_leaf" in description or description["type"] == "ndarray"):
        arrays.append(description["values"])
    for key, part in description.items():
        if isinstance(part, dict) and (key == "grad" or key.startswith("part ")):
            collect_arrays(part, arrays)


def classify_error(theirs, ours):
    """Return class, what differs, or None if both did the same."""
    if theirs == ours:
        return None
    if ours and REFUSAL.search(ours[1]) and not (theirs and theirs[0] == ours[0]):
        return "refused", "refusal"
    if theirs and ours:
        return "error text", "error type" if theirs[0] != ours[0] else "error text"
    return ("fails", "error") if ours else ("silent", "no error")


def check_statement(watch, text, record, theirs_now):
    """Run a statement, and return its class and the first difference from torch's record."""
    error, printed = run_statement(text, watch.names)
    changed = watch.changed()
    theirs_now.update(record["changed"])
    found = classify_error(record["error"], error)
    if found and found[0] != "error text":
        return *found, "", say(record["error"], text, theirs_now), say(error, text, None)
    differences = []
    what = compare_text(record["printed"], printed)
    if what:
        differences.append(("printed", what, record["printed"], printed))
    for name in dict.fromkeys([*record["changed"], *changed]):
        if name not in watch.names or name not in theirs_now:
            differences.append((name, "exists", name in theirs_now, name in watch.names))
            continue
        found_here = compare(theirs_now[name], watch.describe(name), name)
        if name not in record["changed"]:  # torch's description is older: only bits of NaN or zero have changed here
            found_here = [found for found in found_here if found[1] not in ("text", "shares memory with")]
        differences += found_here
    if ".mode(" in text:  # torch sorts NaN as it comes
        differences = [(w, "order" if "nan" in f"{a}{b}" else what, a, b) for w, what, a, b in differences]
    if ".median(" in text and (watch.repeats(text) or "expand(" in text):  # torch reads what was never written
        differences = [(w, "order", a, b) for w, _, a, b in differences]
    if EQUAL_ORDER.search(text):
        names = (".1", "") if "argsort" in text else (".1",)  # of the indices in a result
        orders = [what == "value" and where.removeprefix(place(text)) in names for where, what, _, _ in differences]
        differences = [(w, "order" if o else what, a, b) for o, (w, what, a, b) in zip(orders, differences)]
    if record["random"] != next_random():
        differences.append(("next random number", "random", record["random"], next_random()))
    differences.sort(key=lambda difference: difference[1] == "stride")
    real = [difference for difference in differences if difference[1] not in EXCEPTIONS]
    if real:
        where, what, a, b = real[0]
        return "stride" if what == "stride" else "silent", what, where, a, b
    if differences:
        for name in record["changed"]:
            take_numbers(theirs_now[name], watch.names[name])
        watch.changed()
    if found:
        return *found, "", ": ".join(record["error"]), ": ".join(error)
    seen = [difference for difference in differences if difference[2] != difference[3]]
    if seen:
        where, what, a, b = max(seen, key=lambda difference: EXCEPTIONS.index(difference[1]))
        return "exception", what, where, a, b
    return "same", "", "", "", ""


def say(error, text, theirs_now):
    if error:
        return ": ".join(error)
    return short(theirs_now[place(text)]) if theirs_now and place(text) in theirs_now else "no error"


def place(text):
    """Return the name that a statement assigns to."""
    return text.partition(" = ")[0]


def check_program(seed, statements, records):
    """Return the verdict on each statement, up to the first that makes the programs differ."""
    verdicts, theirs_now = [], {}
    with warnings.catch_warnings(), limited_time(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        watch = Watch(seed)
        for text, record in zip(statements, records):
            if record["error"] and "not resizable" in record["error"][1]:  # since numpy has read its memory
                break
            try:
                verdict = check_statement(watch, text, record, theirs_now)
            except Exception as error:  # noqa: BLE001  a variable that cannot be described or printed
                verdict = "fails", "description", "", "", f"{type(error).__name__}: {error}"
            verdicts.append(verdict)
            if verdict[0] in BLOCKING:
                break
    return verdicts

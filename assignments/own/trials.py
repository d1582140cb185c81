"""Try a question before it is used: run the reference and each mistake on probes, and refuse what is not fair."""

import torch

from companion.check.engine.diagnosis import alike
from companion.check.engine.library_layers import RECURRENT
from companion.check.engine.question import Bank
from companion.check.engine.question_from_edits import VARIANT
from companion.check.engine.run_answer import observe, seed
from companion.check.own.build import entries
from companion.check.own.files import Fault

SEEDS = range(10)  # of the probes on which a question is tried
NOTES = {
    "changed": "it changes its input in place: {names}",
    "settings": "it leaves settings of torch changed: {names}",
    "library": "it runs a library's own layer, which is refused as an answer: {names}",
}


def check_question(file, question):
    """Return {variant: {mistake: numbers of the probes that reveal it}}. Raise Fault if the question is not fair."""
    found = {}
    for variant, asked in (question.variants or {None: question}).items():
        banks = [Bank(asked, number) for number in SEEDS]
        for bank in banks:
            check_reference(file, asked, bank)
        if all(all(map(alike, banks[0].expected, bank.expected)) for bank in banks[1:]):
            raise reference_fault(
                file,
                "it returns the same on all draws. `inputs` should draw what the result depends on: otherwise numbers"
                " that were learned by heart would be right",
            )
        found[variant] = {name: revealing_probes(file, name, banks) for name in asked.mistakes}
        check_different(file, asked, banks)
    return found


def reference_fault(file, reason):
    """Return a Fault at the reference."""
    return Fault(file.path, f"the reference cannot be used: {reason}", file.answer.lineno)


def check_reference(file, question, bank):
    """Raise Fault if the reference fails on a probe, is not deterministic, or would not be a right answer itself."""
    for number, (probe, expected) in enumerate(zip(bank.probes, bank.expected), start=1):
        on_probe = f"on probe {number} ({', '.join(sizes(probe))})"
        if error := expected.error:
            text = f"{error['type']}: {error['text']}" if "type" in error else f"{error['kind']} {error['said']}"
            raise reference_fault(file, f"{on_probe} it stops with {text}")
        if bad := [name for name, value in expected.values.items() if not value.isfinite().all()]:
            raise reference_fault(file, f"{on_probe} {bad[0]} is not a finite number")
        drawn = []
        again = observe(noting_random_numbers(question.call, drawn), question.truth, probe, RECURRENT)
        if any(drawn):
            raise reference_fault(
                file, f"{on_probe} it draws random numbers. Let `inputs` draw them, and take them as an argument"
            )
        for note, reason in NOTES.items():
            if note in again.notes:
                raise reference_fault(file, f"{on_probe} {reason.format(names=', '.join(again.notes[note]))}")
        if not alike(expected, again):
            raise reference_fault(file, f"{on_probe} it returns something else when it is called again")


def noting_random_numbers(call, drawn):
    """Return a question's call that also appends to `drawn` whether the answer drew random numbers of torch."""

    def noting(answer, probe, outcome):
        seed()
        before = torch.get_rng_state()
        call(answer, probe, outcome)
        drawn.append(not torch.equal(before, torch.get_rng_state()))

    return noting


def sizes(probe):
    """Return the sizes of a probe as texts: `x (2, 3)`."""
    shapes = [f"{name} {tuple(tensor.shape)}" for name, tensor in probe.tensors.items()]
    return [f"{name}={value}" for name, value in probe.options.items()] + shapes


def keys_of(file, name):
    """Return where a mistake stands in the file."""
    field = "VARIANTS" if name.startswith(VARIANT) else "MISTAKES"
    graded_as = dict(zip(entries(file, field), file.get(field, {}), strict=True))
    return field, graded_as[name.removeprefix(VARIANT)]


def revealing_probes(file, name, banks):
    """Return the numbers, from 1, of the probes on which a mistake is wrong with every draw. Raise Fault if none is."""
    mistakes, wrong = frozenset([name]), []
    for bank in banks:
        outcomes = [bank.outcome(mistakes, number) for number in range(len(bank.probes))]
        for outcome in outcomes:
            if (outcome.error or {}).get("type") == "NameError":
                text = outcome.error["text"]
                raise file.fault(f"with the change of {name} the reference stops: {text}", *keys_of(file, name))
        wrong.append({number for number, pair in enumerate(zip(bank.expected, outcomes), start=1) if not alike(*pair)})
    if not any(wrong):
        raise file.fault(f"{name} changes nothing on any probe, so it would be graded as right", *keys_of(file, name))
    if not all(wrong):
        lucky = sum(not numbers for numbers in wrong)
        raise file.fault(
            f"{name} changes nothing on any probe in {lucky} of {len(wrong)} draws. Draw more numbers: give the"
            " smallest size a larger default",
            *keys_of(file, name),
        )
    return sorted(set.intersection(*wrong)) or sorted(set.union(*wrong))


def check_different(file, question, banks):
    """Raise Fault if two mistakes do the same on all probes: the second would never be named."""
    names = [*question.mistakes]
    for place, name in enumerate(names):
        for earlier in names[:place]:
            pairs = (
                (bank.outcome(frozenset([earlier]), number), bank.outcome(frozenset([name]), number))
                for bank in banks
                for number in range(len(bank.probes))
            )
            if all(alike(*pair) for pair in pairs):
                raise file.fault(
                    f"{name} does the same as {earlier} on all probes: leave one of them out", *keys_of(file, name)
                )

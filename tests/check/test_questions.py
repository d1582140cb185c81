"""Check every question: the reference equals the truth, and all mistakes differ on the probes."""

import json
from pathlib import Path

import pytest
import torch

from companion.check.engine.diagnosis import agree, alike, close, is_gradient
from companion.check.engine.probe import Outcome, Probe
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import run
from tests.check.programs import banks
from tests.project.sampling import chosen

NAMES = list(all_questions())
BANKED = [name for name, question in all_questions().items() if not question.training_goal]
SEEDS = (0, 1)
VARIANTS = [
    pytest.param(*row, id=name, marks=[pytest.mark.heavy] * (name == "all_at_once")) for name, row in banks().items()
]
in_each_variant = pytest.mark.parametrize("name, variant", VARIANTS)


@pytest.mark.parametrize("seed", SEEDS)
@in_each_variant
def test_the_reference_without_mistakes_equals_the_truth(name, variant, seed):
    probed = bank(name, seed, variant)
    atol = 1e-6 if probed.question.assignment == "training" else 1e-12  # torch adds 1e-6 to the norm by which it clips
    for number, truth in enumerate(probed.expected):
        outcome = probed.outcome(frozenset(), number)
        assert outcome.error is None and truth.error is None and set(outcome.values) == set(truth.values)
        assert not outcome.notes, (
            f"`reference` of {name} without mistakes has another form than `truth`: {outcome.notes}"
        )
        for value, right in truth.values.items():
            torch.testing.assert_close(outcome.values[value], right, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", chosen(SEEDS, 0))
@in_each_variant
def test_every_mistake_differs_from_every_other(name, variant, seed):
    probed = bank(name, seed, variant)

    def outcome(mistake, number, gradients):
        if mistake == "nothing":
            return probed.expected[number]
        return (probed.outcome if gradients else probed.quick_outcome)(frozenset([mistake]), number)

    same = alike_in_numbers({mistake: outcome(mistake, 0, False) for mistake in ("nothing", *probed.question.mistakes)})
    for gradients in (False, True):  # gradients take longer: only for mistakes with the same values
        for number in range(len(probed.probes)):
            same = [
                pair for pair in same if alike(*(outcome(mistake, number, gradients) for mistake in pair), gradients)
            ]
    assert same == [], (
        f"no probe of {name} tells these apart: one more probe might, or one of each pair has to go: {same}"
    )


def alike_in_numbers(outcomes):
    """Return the pairs of names whose outcomes have the same values and shapes."""
    forms = {}
    for name, outcome in outcomes.items():
        values = [(key, value) for key, value in sorted(outcome.values.items()) if not is_gradient(key)]
        row = torch.cat([torch.zeros(1), *(value.flatten() for _, value in values)])
        forms.setdefault(str([(key, *value.shape) for key, value in values]), []).append((name, row))
    pairs = []
    for group in forms.values():
        names, rows = zip(*group)
        rows = torch.stack(rows)
        places = close(rows[:, None], rows).all(dim=2).triu(1).nonzero().tolist()
        pairs += [(names[first], names[second]) for first, second in places]
    return pairs


@pytest.mark.parametrize("name", BANKED)
def test_probes_and_outcomes_survive_json(name):
    probed = bank(name, 0)
    question = probed.question
    for probe, expected in zip(probed.probes, probed.expected):
        request = json.loads(json.dumps(probe.to_json()))
        assert json.dumps(Probe.from_json(request).to_json()) == json.dumps(probe.to_json())
        answer = json.loads(json.dumps(run(question.call, question.truth, request, frozenset())))
        assert alike(expected, Outcome.from_json(answer))


@pytest.mark.parametrize("name", BANKED)
def test_probes_depend_on_the_seed_and_begin_with_the_smallest(name):
    probes = bank(name, 0).probes
    assert [probe.to_json() for probe in probes] != [probe.to_json() for probe in bank(name, 1).probes]
    assert probes[0].size == min(probe.size for probe in probes)


@pytest.mark.parametrize("name", NAMES)
def test_every_place_is_a_cell_of_the_book(name):
    question = all_questions()[name]
    variants = [question, *question.variants.values()]
    for place in {question.place, *(place for variant in variants for place in variant.mistakes.values())} - {""}:
        page, cell = place.split("#")
        cells = json.loads(Path(f"book/en/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        assert cell in {entry["id"] for entry in cells}, (
            f"{name} leads to {place}, but book/en/{page}.ipynb has no cell {cell}"
        )


def test_agree():
    tensor = torch.tensor([1.0, torch.nan])
    assert agree(tensor, tensor + 1e-6) and not agree(tensor, tensor + 1e-2) and not agree(tensor, tensor[:1])

"""Check the scores that the assignments state for counting, in questions where students train a network."""

import json
import re

import pytest
import torch

from book.editions import finished
from companion.check.engine.question import Draw
from companion.check.questions.language_model import characters, recall
from tests.project.paths import ROOT

FINISHED = [edition.language for edition in finished()]
RUNS = range(8)


def stated_numbers(language, cell):
    """Return the numbers in the paragraph below a task's marks."""
    notebook = json.loads((ROOT / f"assignments/source/{language}/language_model.ipynb").read_text(encoding="utf-8"))
    source = next("".join(entry["source"]) for entry in notebook["cells"] if entry["id"] == cell)
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", source.rpartition("|\n\n")[2])]


def most_counted(growth, seed):
    """Return how often the most counted symbol is right, if each step counts `growth` times the one before."""
    draw = Draw(seed)
    symbols = draw(recall.SYMBOLS + recall.NOISES + 1).argsort()[: recall.SYMBOLS]  # as `recall.draw_data` draws them
    probe, right = recall.draw_data(Draw(seed))
    occurs = (probe.tensors["held_out"][..., None] == symbols).double()
    weights = growth ** torch.arange(recall.STEPS, dtype=torch.float64)
    return ((occurs * weights[:, None]).sum(1).argmax(-1) == right["targets"]).double().mean().item()


def log_p(order, text, pieces):
    """Return the probabilities of the next character from counts after the last `order` characters."""
    table = torch.full((characters.CHARACTERS,) * (order + 1), 0.2, dtype=torch.float64)
    windows = text.unfold(0, order + 1, 1)
    table.index_put_(tuple(windows.T), torch.ones(len(windows), dtype=torch.float64), accumulate=True)
    return (table / table.sum(-1, keepdim=True)).log()[tuple(pieces[:, -order:].T)]


def counted(mixed, seed):
    """Return the score of counts, mixed in these parts: {order: part}."""
    probe, right = characters.draw_data(Draw(seed))
    mixture = [
        log_p(order, probe.tensors["text"], probe.tensors["held_out"]).exp() * part for order, part in mixed.items()
    ]
    return characters.share_learned(right, sum(mixture).log())


def mean(score, argument):
    return sum(score(argument, seed) for seed in RUNS) / len(RUNS)


@pytest.mark.heavy
def test_scores_of_counts_are_as_stated():
    shares = [100 * mean(most_counted, growth) for growth in (1.0, 1.1, 1.5)]
    orders = [mean(counted, mixed) for mixed in ({2: 1.0}, {3: 1.0}, {1: 0.05, 2: 0.35, 3: 0.6})]
    for language in FINISHED:
        numbers = stated_numbers(language, "task-recall")
        for score in shares:
            assert min(abs(score - number) for number in numbers) < 2, (language, score)
        numbers = stated_numbers(language, "task-characters")
        for score in orders:
            assert min(abs(score - number) for number in numbers) < 0.03, (language, score)

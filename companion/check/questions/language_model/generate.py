"""Question `generate`: the loop that generates a text, with a model of a few states and a function that draws."""

import torch

from companion.check.engine.probe import Probe, Unfit, form
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import seed


def call(answer, probe, outcome):
    """Call an answer, which may return its indices in any container, with random numbers of the probe."""
    logits, after, chances = (probe.tensors[name] for name in ("logits", "after", "chances"))
    drawn = []

    def step(index, state):
        state = int(after[int(state), int(index)])
        return logits[state].clone(), state

    def draw(scores):
        chance = float(chances[len(drawn) % len(chances)])
        drawn.append(
            min(int((torch.softmax(torch.as_tensor(scores), dim=-1).cumsum(-1) < chance).sum()), len(scores) - 1)
        )
        return drawn[-1]

    seed()
    returned = answer(step, probe.options["state"], [*probe.options["prompt"]], probe.options["count"], draw)
    if returned is None:
        raise Unfit("returns_none", name="[index, …]")
    try:
        signs = [int(index) for index in returned]
    except (TypeError, ValueError, RuntimeError):
        raise Unfit("wrong_form", name="[index, …]", got=form(returned)) from None
    outcome.values["indices"] = torch.tensor(signs, dtype=torch.float64)
    outcome.values["draws"] = torch.tensor(float(len(drawn)))


def generate_reference(step, state, prompt, count, draw):
    first = state  # noqa: F841 (a mistake below reads it)
    for index in prompt:
        logits, state = step(index, state)
    indices = []
    while len(indices) < count:
        index = draw(logits)
        indices.append(index)
        logits, state = step(index, state)
    return indices


PLACE = "language_model#generation"
READ, WRITE = (
    "for index in prompt:\n        logits, state = step(index, state)",
    "indices.append(index)\n        logits, state = step(index, state)",
)
DRAW, GIVEN = "index = draw(logits)", "indices = []"
MISTAKES = {
    "prompt_last_only": (PLACE, "in prompt:", "in prompt[-1:]:"),
    "prompt_first_only": (PLACE, "in prompt:", "in prompt[:1]:"),
    "prompt_last_missing": (PLACE, "in prompt:", "in prompt[:-1] or prompt:"),
    "prompt_backwards": (PLACE, "in prompt:", "in prompt[::-1]:"),
    "prompt_state_lost": (PLACE, GIVEN, "indices, state = [], first"),
    "prompt_read_twice": (PLACE, GIVEN,
    "indices = []\n    for index in prompt:\n        logits, state = step(index, state)"),
    "last_read_twice": ("language_model#exercise-read-twice", GIVEN,
    "indices = []\n    logits, state = step(prompt[-1], state)"),
    "drawn_while_reading": (PLACE, READ, READ.replace("for index in prompt:",
    "for place, index in enumerate(prompt):\n        if place:\n            draw(logits)")),
    "drawn_while_reading~after": ("", READ, READ + "\n        draw(logits)"),
    "drawn_once_more": (PLACE, "return indices", "draw(logits)\n    return indices"),
    "prompt_in_result": (PLACE, "return indices", "return [*prompt, *indices]"),
    "last_of_prompt_in_result": (PLACE, "return indices", "return [prompt[-1], *indices]"),
    "last_of_prompt_in_result~counted": ("", "return indices", "return [prompt[-1], *indices[:-1]]"),
    "count_with_prompt": (PLACE, "len(indices) < count", "len(indices) + len(prompt) < count"),
    "one_too_many": (PLACE, "len(indices) < count", "len(indices) <= count"),
    "one_too_few": (PLACE, "len(indices) < count", "len(indices) + 1 < count"),
    "state_not_carried": (PLACE, WRITE, WRITE.replace("logits, state = step(index, state)",
    "logits, _ = step(index, state)")),
    "state_not_carried~first": ("", WRITE, WRITE.replace("step(index, state)", "step(index, first)")),
    "likeliest_taken": ("language_model#greedy-said", DRAW, "index = int(logits.argmax())"),
    "likeliest_read": (PLACE, WRITE, WRITE.replace("step(index, state)", "step(int(logits.argmax()), state)")),
    "drawn_not_read": (PLACE, WRITE, WRITE.replace("step(index, state)", "step(prompt[-1], state)")),
    "each_read_twice": ("language_model#exercise-read-twice", WRITE,
    WRITE + "\n        logits, state = step(index, state)"),
    "all_read_again": (PLACE, WRITE, WRITE.replace("logits, state = step(index, state)",
    "for index in [*prompt, *indices]:\n            logits, state = step(index, state)")),
    "drawn_twice": (PLACE, WRITE, WRITE.replace("step(index, state)", "step(draw(logits), state)")),
    "probabilities_to_draw": ("language_model#choosing", DRAW, "index = draw(torch.softmax(logits, dim=-1))"),
    "only_last_returned": (PLACE, "return indices", "return indices[-1:]"),
    "backwards_returned": (PLACE, "return indices", "return indices[::-1]"),
    "logits_one_late": (
        PLACE, GIVEN, "indices, later = [], logits",
        WRITE, "indices.append(index)\n        logits, (later, state) = later, step(index, state)"),
}  # fmt: skip


def truth(step, state, prompt, count, draw):
    def read(signs):
        """Return the logits after `signs`, read from the beginning: slow, but independent of a carried state."""
        at, scores = state, None
        for sign in signs:
            scores, at = step(sign, at)
        return scores

    written = []
    for _ in range(count):
        written = [*written, draw(read([*prompt, *written]))]
    return written


def probes(draw):
    def probe(name, states, signs, prompt, count):
        tensors = {
            "logits": 2.5 * draw(states, signs), "after": draw.whole(states, states, signs),
            "chances": (draw(4 * count + 8) + 1) / 2,
        }  # fmt: skip
        return Probe(
            name, tensors, {"state": 0, "prompt": draw.whole(signs, prompt).tolist(), "count": count}, gradients=None
        )

    return [
        probe("prompt_of_one", 5, 3, 1, 3),
        probe("several", 40, 5, 3, 9),
        probe("several", 60, 7, 4, 12),
        probe("several", 50, 6, 5, 11),
    ]


QUESTION = generate_question(
    generate_reference, MISTAKES, truth=truth, by_torch=False, name="generate", assignment="language_model", task=3,
    points=2,
    place=PLACE, call=call, probes=probes, axes={"indices": ("place",)},
)  # fmt: skip

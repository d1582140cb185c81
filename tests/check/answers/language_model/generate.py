"""Answers to the question `generate`."""

from tests.check.answers import Program

GENERATE = """
def generate(step, state, prompt, count, draw):
    begin = state
    for i in prompt:
        logits, state = step(i, state)
    out = []
    for n in range(count):
        i = draw(logits)
        out.append(i)
        logits, state = step(i, state)
    return out
"""
READ, WRITE, OUT, DRAWN = (
    "for i in prompt:",
    "out.append(i)\n        logits, state = step(i, state)",
    "return out",
    "i = draw(logits)",
)
GENERATE_WRONG = {
    "prompt_last_only": [("    for i in prompt:\n        logits, state = step(i, state)",
    "    logits, state = step(prompt[-1], state)")],
    "prompt_first_only": [("    for i in prompt:\n        logits, state = step(i, state)",
    "    logits, state = step(prompt[0], state)")],
    "prompt_last_missing": [(READ, "for i in prompt[: max(1, len(prompt) - 1)]:")],
    "prompt_backwards": [(READ, "for i in reversed(prompt):")],
    "prompt_state_lost": [("out = []", "out = []\n    state = begin")],
    "prompt_read_twice": [(READ, "for i in prompt + prompt:")],
    "last_read_twice": [(READ, "for i in [*prompt, prompt[-1]]:")],
    "drawn_while_reading": [(READ, "for n, i in enumerate(prompt):\n        if n: draw(logits)")],
    "drawn_once_more": [
        ("    for n in", "    i = draw(logits)\n    for n in"),
        ("        i = draw(logits)\n        out.append(i)", "        out.append(i)"),
        (WRITE, WRITE + "\n        i = draw(logits)"),
    ],
    "prompt_in_result": [("out = []", "out = list(prompt)")],
    "last_of_prompt_in_result": [("out = []", "out = [prompt[-1]]")],
    "count_with_prompt": [("range(count)", "range(count - len(prompt))")],
    "one_too_many": [("range(count)", "range(count + 1)")],
    "one_too_few": [("range(count)", "range(1, count)")],
    "state_not_carried": [(WRITE, WRITE.replace("logits, state =", "logits, new_state ="))],
    "likeliest_taken": [(DRAWN, "i = torch.argmax(logits).item()")],
    "likeliest_read": [(WRITE, WRITE.replace("step(i", "step(logits.argmax().item()"))],
    "drawn_not_read": [(WRITE, WRITE.replace("step(i", "step(prompt[-1]"))],
    "each_read_twice": [(WRITE, WRITE + "\n        logits, state = step(i, state)")],
    "all_read_again": [(WRITE,
    "out.append(i)\n        for j in list(prompt) + out:\n            logits, state = step(j, state)")],
    "drawn_twice": [(WRITE, WRITE.replace("step(i", "step(draw(logits)"))],
    "probabilities_to_draw": [(DRAWN, "i = draw(F.softmax(logits, dim=0))")],
    "only_last_returned": [(OUT, "return [i]")],
    "backwards_returned": [("out.append(i)", "out.insert(0, i)")],
    "logits_one_late": [
        ("    out = []\n", "    out, before = [], logits\n"), (DRAWN, "i = draw(before)"),
        (WRITE, "out.append(i)\n        before = logits\n        logits, state = step(i, state)"),
    ],
}  # fmt: skip
GENERATE_RIGHT = [
    [("out.append(i)", "out.append(torch.tensor(i))")],
    [(OUT, "return torch.tensor(out)")],
    """
def generate(step, state, prompt, count, draw):
    def write():
        nonlocal state
        unread = list(prompt)
        for _ in range(count):
            while unread:
                logits, state = step(unread.pop(0), state)
            unread = [draw(logits)]
            yield unread[0]
    return tuple(write())
""",
]

PROGRAM = Program(GENERATE, GENERATE_WRONG, also_right=GENERATE_RIGHT)

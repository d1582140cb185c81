"""Question `summarise`: one vector for each sequence from the padded output of a bidirectional layer."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def summarise_reference(output, lengths):
    forward, backward = output.chunk(2, dim=-1)
    rows = torch.arange(len(lengths))
    last = lengths - 1
    ends = forward[last, rows]
    begins = backward[0]
    return torch.cat([ends, begins], dim=-1)


HERE, TABLE, BACK = "sequences#ways-said", "sequences#many-to-one", "sequences#backward-direction"
LAST, ENDS, BEGINS, JOINED = "lengths - 1", "forward[last, rows]", "backward[0]", "torch.cat([ends, begins], dim=-1)"
CUT = "forward, backward = output.chunk(2, dim=-1)"
MISTAKES = {
    "last_step_of_batch": (HERE, ENDS, "forward[-1]", BEGINS, "backward[-1]"),
    "forward_after_padding": (HERE, ENDS, "forward[-1]"),
    "backward_at_last_element": (HERE, BEGINS, "backward[last, rows]"),
    "backward_at_end_of_batch": (HERE, BEGINS, "backward[-1]"),
    "backward_counted_from_the_end": (BACK, BEGINS, "backward[len(output) - lengths, rows]"),
    "first_step_for_both": (BACK, ENDS, "forward[0]"),
    "ends_exchanged": (BACK, ENDS, "forward[0]", BEGINS, "backward[last, rows]"),
    "ends_exchanged~batch": ("", ENDS, "forward[0]", BEGINS, "backward[-1]"),
    "halves_exchanged": (HERE, CUT, CUT.replace("forward, backward", "backward, forward")),
    "halves_interleaved": (HERE, CUT, "forward, backward = output[..., ::2], output[..., 1::2]"),
    "output_backward_first": (HERE, JOINED, "torch.cat([begins, ends], dim=-1)"),
    "one_past_the_end": (TABLE, LAST, "lengths"),
    "one_past_the_end~where_it_can": ("", LAST, "lengths.clamp(max=len(output) - 1)"),
    "one_before_the_end": (TABLE, LAST, "lengths - 2"),
    "cut_to_shortest": (TABLE, LAST, "lengths.min().expand(len(lengths)) - 1"),
    "batch_left_sorted": ("sequences#exercise-bug", JOINED, f"{JOINED}[lengths.argsort(descending=True)]"),
    "batch_left_sorted~upwards": ("", JOINED, f"{JOINED}[lengths.argsort()]"),
    "return_in_the_loop": (HERE, JOINED, "torch.cat([ends[0], begins[0]])"),
    "return_in_the_loop~stacked": ("", JOINED, "torch.cat([ends[:1], begins[:1]], dim=-1)"),
    "forward_half_only": (HERE, JOINED, "ends"),
    "backward_half_only": (HERE, JOINED, "begins"),
    "directions_added": (HERE, JOINED, "ends + begins"),
    "directions_stacked": (HERE, JOINED, "torch.stack([ends, begins])"),
    "directions_stacked~each": ("", JOINED, "torch.stack([ends, begins], dim=1)"),
    "directions_joined_in_batch": (HERE, JOINED, "torch.cat([ends, begins])"),
    "all_rows_at_each_end": (TABLE, JOINED, "output[last]"),
    "all_rows_at_each_end~forward": ("", JOINED, "torch.cat([forward[last], begins.expand_as(forward[last])], dim=-1)"),
    "summed_up_to_the_end": (
        TABLE, JOINED, "torch.stack([output[:n, b].sum(0) for b, n in enumerate(lengths.tolist())])"),
    "mean_for_last": (TABLE, JOINED, "torch.stack([output[:n, b].mean(0) for b, n in enumerate(lengths.tolist())])"),
    "mean_for_last~padding": ("", JOINED, "output.mean(0)"),
    "maximum_for_last": (TABLE, JOINED, "torch.stack([output[:n, b].amax(0) for b, n in enumerate(lengths.tolist())])"),
    "output_read_batch_first": ("rnn#time-first", ENDS, "forward[rows, last]", BEGINS, "backward[:, 0]"),
}  # fmt: skip


def truth(output, lengths):
    size = output.shape[-1] // 2
    return torch.stack([
        torch.cat([output[length - 1, b, :size], output[0, b, size:]]) for b, length in enumerate(lengths.tolist())
    ])  # fmt: skip


def probes(draw):
    def probe(name, draw, steps, hidden, *lengths):
        tensors = {"output": draw(steps, len(lengths), 2 * hidden), "lengths": torch.tensor(lengths)}
        return Probe(name, tensors, gradients=("output",))

    return [
        probe("two_sequences", draw.few, 2, 1, 1, 2),
        probe("batch_1", draw.few, 3, 2, 3),
        # as many steps as sequences: mistaking one for the other raises no error
        probe("several", draw, 3, 2, 2, 3, 1),
        probe("several", draw, 6, 3, 2, 5, 4),
        probe("equal_lengths", draw, 2, 1, 2, 2),
    ]


QUESTION = generate_question(
    summarise_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="summarise",
    assignment="series",
    task=3,
    points=2,
    place=HERE,
    call=Function(("output", "lengths"), "summary"),
    probes=probes,
    axes={"output": ("step", "batch", "unit"), "summary": ("batch", "unit"), "lengths": ("batch",)},
)

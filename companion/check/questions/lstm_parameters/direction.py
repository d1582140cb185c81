"""Mistakes in one direction of one layer."""

import torch
from torch.nn import functional

from companion.check.questions.lstm.step import EXCLUSIVE, GATE_MISTAKES, STATE_MISTAKES, step_reference
from companion.check.questions.lstm_parameters import CHAPTER

# Mistakes in the step or with its weights.
STEP_MISTAKES = {"one_bias": "lstm#two-biases", "weights_transposed": "lstm#one-product"}


STEP_MISTAKES |= STATE_MISTAKES | GATE_MISTAKES


# Mistakes that a projection rules out: h has fewer numbers than c, and `weight_hh` is not square.
NOT_PROJECTED = {"recurrent_weights_transposed", "new_h_too_early"}
PROJECTED_STEP_MISTAKES = {name: place for name, place in STEP_MISTAKES.items() if name not in NOT_PROJECTED}

# Mistakes from step to step, and with the states.
SEQUENCE_MISTAKES = {
    "state_not_carried": "lstm#from-cell-to-layer",
    "output_is_c": "lstm#state-order",
    "state_detached_each_step": "forget_bias#gradient-path",
    "state_detached_each_step~before": "",
    "state_detached_each_step~last": "",
}
STATES_MISTAKES = {
    "given_state_ignored": "lstm#from-cell-to-layer",
    "given_state_ignored~h": "",
    "given_state_ignored~c": "",
    "state_detached": "forget_bias#gradient-path",
    "state_swapped": "lstm#state-order",
    "state_read_as_c_h": "lstm#state-order",
    "state_returned_as_c_h": "lstm#state-order",
    "c_n_is_h_n": "lstm#state-order",
    "h_n_always_batch_first": f"{CHAPTER}#batch-first-trap",
    "output_only_last": f"{CHAPTER}#first-look-said",
    "output_detached": "forget_bias#gradient-path",
}
MODULE_MISTAKES = {
    "default_state_missing": "lstm#from-cell-to-layer",
    "default_state_ones": "lstm#from-cell-to-layer",
    "default_state_random": "lstm#from-cell-to-layer",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "lstm#from-cell-to-layer",
    "state_kept_between_calls~detached": "",
    "input_always_batch_first": f"{CHAPTER}#batch-first",
    "output_always_batch_first": f"{CHAPTER}#batch-first",
    "only_output_returned": "lstm#output-gate",
    "state_returned_flat": "lstm#state-order",
}
SEQUENCE_EXCLUSIVE = (
    *EXCLUSIVE,
    frozenset({"given_state_ignored", "state_detached", "state_swapped", "state_read_as_c_h"}),
    frozenset({"state_swapped", "state_read_as_c_h", "state_returned_as_c_h", "only_output_returned"}),
    frozenset({"state_not_carried", "state_detached_each_step"}),
    frozenset({"output_only_last", "output_always_batch_first"}),
    frozenset({"h_n_always_batch_first", "h_n_without_layer", "h_n_joined_by_cat", "only_output_returned"}),
    frozenset({"default_state_missing", "default_state_ones", "default_state_random"}),
    frozenset({"only_output_returned", "state_returned_flat"}),
)


def projected_step_reference(mistakes):
    """Return the next h and c: the step of `lstm`, with a projection if there is one."""

    def step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr=None):
        if "view_for_transpose" in mistakes:
            weight_ih, weight_hh = (weight.reshape(weight.T.shape).T for weight in (weight_ih, weight_hh))
        if h.shape[-1] != weight_hh.shape[1]:
            functional.linear(h, weight_hh)  # an error
        # the step expects h and c of one size: zeros that pad h have no effect
        narrow = len(weight_hh) // 4 - h.shape[-1]
        h, weight_hh = functional.pad(h, (0, narrow)), functional.pad(weight_hh, (0, narrow))
        plain_step = step_reference(mistakes - {"view_for_transpose"})
        h, c = plain_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)
        if weight_hr is not None:
            h = projected_reference(mistakes, h, c, weight_hr)
        return h, c

    return step


def projected_reference(mistakes, h, c, weight_hr):
    weight = weight_hr.T
    if "projection_by_view" in mistakes:
        weight = weight_hr.reshape(weight_hr.T.shape)
    h = (c if "projection_of_c" in mistakes else h) @ weight
    if "projection_squashed" in mistakes:
        h = h.tanh()
    if "projection_squashed~sigmoid" in mistakes:
        h = h.sigmoid()
    if "projection_squashed~relu" in mistakes:
        h = h.relu()
    return h


LATE = {"projection_after_layer", "projection_after_layer~h_n", "output_not_projected"}


def direction_reference(mistakes, weights, x, h, c, lengths=None, reverse=False, drop=None):
    """Read x (T, N, …) step by step, and return the output (T, N, …) and the last h and c."""
    step = projected_step_reference(mistakes)
    weight_hr = weights[4] if len(weights) > 4 else None
    if mistakes & LATE:
        weights = weights[:4]
    h_0, c_0 = h, c
    order = range(len(x))
    forwards = {"backward_reads_forwards", "backward_reads_forwards~flipped"}
    if reverse and not mistakes & {*forwards, "flipped_over_batch", "flipped_over_features"}:
        order = order[::-1]
    if reverse and "flipped_over_batch" in mistakes:
        x = x.flip(1)
    if reverse and "flipped_over_features" in mistakes:
        x = x.flip(-1)
    output = [None] * len(x)
    for t in order:
        before = h, c
        if "state_detached_each_step~before" in mistakes:
            h, c = h.detach(), c.detach()
        new_h, new_c = step(x[t], *((h_0, c_0) if "state_not_carried" in mistakes else (h, c)), *weights)
        out = new_c if "output_is_c" in mistakes else new_h
        if weight_hr is not None and "output_not_projected" in mistakes:
            new_h = projected_reference(mistakes, new_h, new_c, weight_hr)
        if drop is not None:
            new_h = drop(new_h)
            out = out if "dropout_between_steps~output_kept" in mistakes else new_h
        output[t], h, c = held_reference(mistakes, out, (new_h, new_c), before, t, len(x), lengths, reverse)
        last = h, c
        if mistakes & {"state_detached_each_step", "state_detached_each_step~last"}:
            h, c = h.detach(), c.detach()
    h, c = (h, c) if "state_detached_each_step~last" in mistakes else last
    if reverse and mistakes & {"backward_not_flipped", "backward_reads_forwards~flipped"}:
        output = output[::-1]
    output = torch.stack(output)
    if reverse and "flipped_over_batch" in mistakes:
        output = output.flip(1)
    if reverse and "flipped_over_features" in mistakes:
        output = output.flip(-1)
    if weight_hr is not None and mistakes & {"projection_after_layer", "projection_after_layer~h_n"}:
        output = output @ weight_hr.T
        h = h @ weight_hr.T if "projection_after_layer~h_n" in mistakes else h
    return output, h, c


def held_reference(mistakes, out, new, old, t, steps, lengths, reverse):
    """Return the output and states at step t: a sequence that has ended outputs 0, and keeps its last state."""
    if lengths is None:
        return out, *new
    (new_h, new_c), (old_h, old_c) = new, old
    last = lengths
    if "one_step_too_many" in mistakes:
        last = lengths + 1
    if "one_step_too_few" in mistakes:
        last = lengths - 1
    runs = t < last
    if "padding_expected_first" in mistakes:
        runs = t >= steps - lengths
    runs = runs.unsqueeze(-1)
    h, c = torch.where(runs, new_h, old_h), torch.where(runs, new_c, old_c)
    out = torch.where(runs, out, h if "output_repeats_last" in mistakes else torch.zeros_like(out))
    ignored = mistakes & {"packed_ignores_lengths", "packed_ignores_lengths~all_long"}
    from_padding = reverse and mistakes & {"backward_starts_in_padding", "backward_starts_in_padding~said"}
    if ignored or "output_runs_into_padding" in mistakes or from_padding == {"backward_starts_in_padding~said"}:
        out = new_h
    if ignored or mistakes & {"h_n_after_padding", "padding_zeroed_and_read"} or from_padding:
        h, c = new
    if "h_not_held" in mistakes:
        h = new_h
    if "c_not_held" in mistakes:
        c = new_c
    if "state_zeroed_in_padding" in mistakes:
        h, c = new_h * runs, new_c * runs
    return out, h, c

"""Answers to the question `pack`."""

from tests.check.answers import Program

PACK = """
def pack(padded, lengths):
    ordered, order = torch.sort(lengths, descending=True)
    x = padded[:, order]
    data, batch_sizes = [], []
    for t in range(ordered[0]):
        k = int((ordered > t).sum())
        batch_sizes.append(k)
        data.append(x[t, :k])
    return torch.cat(data), torch.tensor(batch_sizes), order
"""
SORT, SORTED = "torch.sort(lengths, descending=True)", "x = padded[:, order]"
STEPS, COUNT, ROW = "range(ordered[0])", "int((ordered > t).sum())", "x[t, :k]"
DATA, SIZES = "torch.cat(data),", "torch.tensor(batch_sizes)"
UNSORTED = [(STEPS, "range(max(ordered))"), (ROW, "x[t, ordered > t]")]
PACK_WRONG = {
    "packed_by_sequence": [(DATA, "torch.cat([x[:n, b] for b, n in enumerate(ordered)]),")],
    "columns_not_sorted": [(SORTED, "x = padded")],
    "lengths_not_sorted": [(ROW, "x[t, lengths > t]")],
    "packed_without_sorting": [(SORT, "lengths, torch.arange(len(lengths))"), *UNSORTED],
    "shortest_first": [(SORT, "torch.sort(lengths)"), *UNSORTED],
    "order_inverted": [(f"{SIZES}, order", f"{SIZES}, order.argsort()")],
    "order_not_used": [(f"{SIZES}, order", f"{SIZES}, torch.arange(len(order))")],
    "order_before_batch_sizes": [(f"{SIZES}, order", f"order, {SIZES}")],
    "lengths_for_order": [(f"{SIZES}, order", f"{SIZES}, ordered")],
    "lengths_for_batch_sizes": [(SIZES, "ordered")],
    "padding_packed": [(COUNT, "len(lengths)")],
    "empty_steps_packed": [(STEPS, "range(len(padded))")],
    "last_step_not_packed": [(STEPS, "range(ordered[0] - 1)")],
    "first_step_not_packed": [(STEPS, "range(1, ordered[0])")],
    "one_step_too_many": [("ordered > t", "ordered >= t")],
    "one_step_too_few": [("ordered > t", "ordered - 1 > t")],
    "cut_to_shortest": [(STEPS, "range(ordered[-1])")],
    "padding_expected_first": [
        (ROW, "torch.stack([x[len(x) - n + t, b] for b, n in enumerate(ordered) if n > t])")],
    "padded_read_batch_first": [(SORTED, "x = padded[order]"), (ROW, "x[:k, t]")],
    "batch_sizes_added_up": [(SIZES, "torch.tensor(batch_sizes).cumsum(0)")],
    "ended_sequences_counted": [("batch_sizes.append(k)", "batch_sizes.append(len(lengths) - k)")],
    "return_in_the_loop": [(f"    return {DATA}", f"        return {DATA}")],
    "steps_packed_backwards": [(STEPS, "reversed(range(ordered[0]))")],
}  # fmt: skip
BY_TORCH = """
def pack(padded, lengths):
    packed = pack_padded_sequence(padded, lengths, enforce_sorted=False)
    return packed.data, packed.batch_sizes, packed.sorted_indices
"""
PACKED_LIST = """
def pack(padded, lengths):
    sequences = [padded[:n, b] for b, n in enumerate(lengths)]
    packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    return packed.data, packed.batch_sizes, packed.sorted_indices
"""
RIGHT = {
    "a mask": """
        def pack(padded, lengths):
            order = torch.argsort(-lengths)
            T = max(lengths)
            mask = torch.arange(T).unsqueeze(1) < lengths[order]
            return padded[:T, order].masked_select(mask[:, :, None]).view(-1, padded.size(2)), mask.sum(1), order
    """,
    "loops and lists": """
        def pack(padded, lengths):
            n = lengths.tolist()
            order = sorted(range(len(n)), key=lambda b: n[b], reverse=True)
            data, batch_sizes = [], [0] * max(n)
            for t in range(max(n)):
                for b in order:
                    if t < n[b]:
                        data.append(padded[t, b])
                        batch_sizes[t] += 1
            return torch.stack(data), batch_sizes, order
    """,
    "batch first": """
        def pack(padded, lengths):
            batch = padded.transpose(0, 1)
            order = numpy.argsort(-lengths.numpy())
            steps = numpy.arange(lengths.max())
            rows = [batch[b, t][None] for t in steps for b in order if lengths[b] > t]
            return [torch.cat(rows), [sum(int(n > t) for n in lengths) for t in steps], order.copy()]
    """,
    "by the places in the batch": """
        def pack(padded, lengths):
            T, N, F = padded.shape
            _, order = lengths.sort(descending=True)
            places = [(t * N + b).item() for t in range(T) for b in order if t < lengths[b]]
            sizes = torch.bincount(torch.tensor(places) // N)
            return padded.reshape(T * N, F)[places], sizes, order
    """,
    "sequences that end one after another": """
        def pack(padded, lengths):
            order = lengths.argsort(descending=True)
            data, sizes, t = [], [], 0
            for k in range(len(order), 0, -1):
                end = int(lengths[order[k - 1]])
                data.append(padded[t:end, order[:k]].flatten(0, 1))
                sizes += [k] * (end - t)
                t = end
            return torch.cat(data), torch.as_tensor(sizes), order
    """,
}

PROGRAM = Program(PACK, PACK_WRONG, also_wrong=[
    ("library_layer", BY_TORCH),
    ("library_layer", PACKED_LIST),
    ("wrong_form", [(f"{SIZES}, order", SIZES)]),
    ("wrong_form", [(f"{SIZES}, order", f"PackedSequence(torch.cat(data), {SIZES}, order)")]),
    ("no_gradient", [(DATA, "torch.cat(data).detach(),")]),
    ("packed_by_sequence", [(DATA, "torch.cat([padded[:n, b] for b, n in enumerate(lengths)]),")]),
    ("lengths_for_batch_sizes", [(SIZES, "lengths")]),
    ("padding_packed", [(ROW, "x[t]")]),
    ("padding_packed", [(COUNT, "len(lengths)"), (STEPS, "range(len(padded))")]),
    ("wrong_shape", [(STEPS, "range(lengths[0])")]),
    ("returns_none", [("return", "_ =")]),
    ("not_a_tensor", [(DATA, "data,")]),
], also_right=RIGHT, pairs=[
    ("packed_by_sequence", "order_inverted"),
    ("columns_not_sorted", "ended_sequences_counted"),
    ("empty_steps_packed", "order_not_used"),
    ("one_step_too_few", "order_inverted"),
])  # fmt: skip

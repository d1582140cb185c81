"""Answers to the question `summarise`."""

from tests.check.answers import Program

SUMMARY = """
def summarise(output, lengths):
    H = output.size(2) // 2
    vectors = []
    for b, n in enumerate(lengths):
        end = output[n - 1, b, :H]
        begin = output[0, b, H:]
        vectors.append(torch.cat([end, begin]))
    return torch.stack(vectors)
"""
END, BEGIN, BOTH, SAID = "output[n - 1, b, :H]", "output[0, b, H:]", "torch.cat([end, begin])", "torch.stack(vectors)"
SUMMARY_WRONG = {
    "last_step_of_batch": [(f"return {SAID}", "return output[-1]")],
    "forward_after_padding": [(END, "output[-1, b, :H]")],
    "backward_at_last_element": [(f"return {SAID}", "return output[lengths - 1, range(len(lengths))]")],
    "backward_at_end_of_batch": [(BEGIN, "output[-1, b, H:]")],
    "backward_counted_from_the_end": [(BEGIN, "output[-n, b, H:]")],
    "first_step_for_both": [(f"return {SAID}", "return output[0]")],
    "ends_exchanged": [(END, "output[0, b, :H]"), (BEGIN, "output[n - 1, b, H:]")],
    "halves_exchanged": [(END, "output[n - 1, b, H:]"), (BEGIN, "output[0, b, :H]")],
    "halves_interleaved": [(END, "output[n - 1, b, 0::2]"), (BEGIN, "output[0, b, 1::2]")],
    "output_backward_first": [(BOTH, "torch.cat([begin, end])")],
    "one_past_the_end": [(END, "output[n, b, :H]")],
    "one_before_the_end": [(END, "output[n - 2, b, :H]")],
    "cut_to_shortest": [(END, "output[min(lengths) - 1, b, :H]")],
    "batch_left_sorted": [("in enumerate(lengths):", "in sorted(enumerate(lengths), key=lambda pair: -pair[1]):")],
    "return_in_the_loop": [(f"vectors.append({BOTH})", f"return {BOTH}")],
    "forward_half_only": [(BOTH, "end")],
    "backward_half_only": [(BOTH, "begin")],
    "directions_added": [(BOTH, "end + begin")],
    "directions_stacked": [(BOTH, "torch.stack([end, begin])"), (SAID, "torch.stack(vectors, dim=1)")],
    "directions_joined_in_batch": [(BOTH, "end"), (SAID, "torch.cat([torch.stack(vectors), output[0, :, H:]])")],
    "all_rows_at_each_end": [(f"return {SAID}", "return output[lengths - 1]")],
    "summed_up_to_the_end": [(BOTH, "sum(output[:n, b])")],
    "mean_for_last": [(BOTH, "output[:n, b].mean(dim=0)")],
    "maximum_for_last": [(BOTH, "output[:n, b].max(dim=0).values")],
    "output_read_batch_first": [(END, "output[b, n - 1, :H]"), (BEGIN, "output[b, 0, H:]")],
}
RIGHT = {
    "gather": """
        def summarise(output, lengths):
            T, N, D = output.shape
            index = (lengths - 1).view(1, N, 1).expand(1, N, D // 2)
            forwards = output[..., :D // 2].gather(0, index).squeeze(0)
            return torch.cat((forwards, output[0, :, D // 2:]), 1)
    """,
    "batch first": """
        def summarise(output, lengths):
            batch = output.transpose(0, 1)
            half = batch.shape[-1] // 2
            return torch.stack([torch.hstack([x[n - 1][:half], x[0][half:]]) for x, n in zip(batch, lengths.tolist())])
    """,
    "one step chosen by a product": """
        def summarise(output, lengths):
            half = output.shape[-1] // 2
            chosen = (torch.arange(len(output))[:, None] == lengths - 1).to(output.dtype)
            ends = torch.einsum("tn,tnh->nh", chosen, output[:, :, :half])
            return torch.cat([ends, output[0, :, half:]], dim=-1)
    """,
    "one tensor and two assignments": """
        def summarise(output, lengths):
            half = output.size(-1) // 2
            result = torch.zeros(output.size(1), 2 * half)
            for b in range(len(lengths)):
                result[b, :half] = output[lengths[b] - 1, b, :half]
                result[b, half:] = output[0, b, half:]
            return result
    """,
    "h_n, as the layer would have it": """
        def summarise(output, lengths):
            directions = output.unflatten(-1, (2, -1))
            h_n = torch.stack([directions[lengths - 1, torch.arange(len(lengths)), 0], directions[0, :, 1]])
            return torch.cat([h_n[-2], h_n[-1]], dim=-1)
    """,
    "a layer's state": """
        def summarise(output, lengths):
            packed = pack_padded_sequence(output, lengths, enforce_sorted=False)
            padded, n = pad_packed_sequence(packed)
            half = padded.size(2) // 2
            return torch.cat([padded[n - 1, torch.arange(len(n)), :half], padded[0, :, half:]], -1)
    """,
}

PROGRAM = Program(SUMMARY, SUMMARY_WRONG, also_wrong=[
    ("return_in_the_loop", [(f"    return {SAID}", f"        return {SAID}")]),
    ("one_past_the_end", [(END, "output[min(n, len(output) - 1), b, :H]")]),
    ("mean_for_last", [(f"return {SAID}", "return output.mean(0)")]),
    ("ends_exchanged", [(END, "output[0, b, :H]"), (BEGIN, "output[-1, b, H:]")]),
    ("directions_stacked", [(BOTH, "torch.stack([end, begin])")]),
    ("not_a_tensor", [(SAID, "vectors")]),
    ("no_gradient", [(SAID, "torch.tensor([vector.tolist() for vector in vectors])")]),
    ("returns_none", [(f"return {SAID}", SAID)]),
], also_right=RIGHT, pairs=[
    ("forward_after_padding", "backward_at_end_of_batch"),
    ("one_before_the_end", "output_backward_first"),
    ("one_past_the_end", "backward_at_end_of_batch"),
])  # fmt: skip

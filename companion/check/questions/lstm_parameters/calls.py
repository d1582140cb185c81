"""Call a student's network on a probe (one test input) and record what it returns."""

from collections import Counter
from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Unfit, form, kind, named
from companion.check.engine.run_answer import Module, seed

SEEDED = "torch.equal(output, output_from_the_same_seed)"


@dataclass(frozen=True)
class Network(Module):
    """Call of a module, even if its matrices have the wrong number of columns.

    The width of a matrix shows what is done with it: numbers are put into a matrix of the wrong width as well, and the
    mistake is reported after the call. The tensor `lengths` of a probe makes its input a packed sequence. The option
    `drawn` asks for the effect of dropout, independent of the random numbers.
    """

    def __call__(self, answer, probe, outcome):
        keywords = {name: probe.options[name] for name in self.keywords if name in probe.options}
        module = answer(*(probe.options[name] for name in self.sizes), **keywords)
        probe, unfit = fit_widths(module, probe)
        try:
            if "lengths" in probe.tensors:
                pack_sequences(module, probe.tensors["lengths"])
            if "drawn" in probe.options:
                self.draw(module, probe, outcome)
            else:
                super().__call__(lambda *_, **__: module, probe, outcome)
        except Unfit:
            raise
        except Exception:
            if unfit is None:
                raise
            raise unfit from None
        if unfit is not None:
            raise unfit

    def draw(self, module, probe, outcome):
        """Record the possible results of dropout, and the most frequent, from `drawn` batches of `rows` equal rows."""
        set_parameters(module, {name: probe.tensors[name] for name in probe.parameters}, outcome)
        module.train(probe.options["training"])
        rows, drawn = probe.options["rows"], probe.options["drawn"]
        x, h, c = (probe.tensors[name].expand(-1, rows, -1) for name in ("input", "h_0", "c_0"))
        by_name = {}
        seed()
        if drawn == 1:  # the same seed must give the same result
            first = named(module(x.clone(), (h.clone(), c.clone())), self.results)["output"]
            seed()
            again = named(module(x.clone(), (h.clone(), c.clone())), self.results)["output"]
            outcome.values[SEEDED] = torch.tensor([torch.equal(first, again)], dtype=torch.float64)
            seed()
        for _ in range(drawn):
            for name, result in named(module(x.clone(), (h.clone(), c.clone())), self.results).items():
                # no other axis has the size of the batch
                batch = [dim for dim, size in enumerate(result.shape) if size == rows]
                result = result.detach().double()
                if batch:
                    by_name.setdefault(name, []).append(result.movedim(batch[-1], 0).flatten(1).tolist())
                else:
                    outcome.values[name] = result
        for name, results in by_name.items():
            most = max(len(distinct(rows_drawn)) for rows_drawn in results)
            outcome.values[f"len({name}.unique(dim=1))"] = torch.tensor([min(most, 2)], dtype=torch.float64)
            if most == drawn == 1:
                continue  # equal rows may be chance: one call cannot tell
            counts = distinct([row for result in results for row in result])
            outcome.values[f"{name}.unique(dim=1)"] = torch.tensor(sorted(counts), dtype=torch.float64)
            if probe.options["dropout"] < 0.5:  # else no result is more frequent than the others
                often = max(counts, key=counts.get)
                outcome.values[f"{name}.mode(dim=1)"] = torch.tensor(often, dtype=torch.float64)


def distinct(rows):
    """Return the distinct rows and their counts, with numbers that differ by rounding only taken as equal.

    Plain Python is faster here, as each operation of torch is watched.
    """
    levels = []
    for column in zip(*rows):
        level, level_of = None, {}
        for number in sorted(set(column)):
            if level is None or not number - last <= 1e-4:
                level = number
            level_of[number] = level
            last = number
        levels.append([level_of[number] for number in column])
    return Counter(zip(*levels))


def fit_widths(module, probe):
    """Return the probe with matrices as wide as the module's, and the error for a wrong width, or None."""
    tensors, unfit = dict(probe.tensors), None
    for name, parameter in module.named_parameters() if isinstance(module, nn.Module) else ():
        wanted = tensors.get(name) if name in probe.parameters else None
        if wanted is None or wanted.dim() < 2 or parameter.dim() != 2 or parameter.shape == wanted.shape:
            continue
        if len(parameter) == len(wanted) and parameter.shape != wanted.T.shape:
            times = -(-parameter.shape[1] // wanted.shape[1])
            tensors[name] = wanted.repeat(1, times)[:, : parameter.shape[1]]
            shapes = {"expected": list(wanted.shape), "got": list(parameter.shape)}
            unfit = unfit or Unfit("parameter_shape", name=name, **shapes)
    return replace(probe, tensors=tensors), unfit


def pack_sequences(module, lengths):
    """Add hooks that pack the input of a module and unpack its output."""

    def pack(_, arguments):
        return pack_padded_sequence(arguments[0], lengths, enforce_sorted=False), *arguments[1:]

    def unpack(_, arguments, returned):
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            return None
        output, state = returned
        if not isinstance(output, PackedSequence):
            wanted = "(PackedSequence, (h_n, c_n))"
            raise Unfit("wrong_form", {"output": output} if isinstance(output, torch.Tensor) else None,
                        name=wanted, got=f"({kind(output)}, {form(state)})")  # fmt: skip
        return pad_packed_sequence(output)[0], state

    if isinstance(module, nn.Module):
        module.register_forward_pre_hook(pack)
        module.register_forward_hook(unpack)

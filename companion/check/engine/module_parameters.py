"""Set the parameters of an answer's module, also those whose names or shapes differ from torch's."""

import re

import torch
from torch import nn

from companion.check.engine.probe import Unfit, kind


def parameters_of(module, prefix="", seen=None):
    """Return a module's parameters by name, like `named_parameters`, which an answer may have overridden."""
    seen, parameters = set() if seen is None else seen, {}
    for name, tensor in module._parameters.items():
        if tensor is not None and id(tensor) not in seen:
            seen.add(id(tensor))
            parameters[prefix + name] = tensor
    for name, inner in module._modules.items():
        if inner is not None and id(inner) not in seen:
            seen.add(id(inner))
            parameters |= parameters_of(inner, f"{prefix}{name}.", seen)
    return parameters


def set_parameters(module, wanted, outcome):
    """Set a module's parameters from the probe, and return them by the probe's names.

    Deviations go into the notes, and the call continues if possible: `missing` and `shapes` (stored in another shape)
    are compared with the bank; `renamed`, `extra` and `plain` (a tensor that is not a parameter) are mistakes of their
    own. Raise Unfit if the call cannot continue.
    """
    if not isinstance(module, nn.Module):
        raise Unfit("not_a_module", got=kind(module))
    without_forward = getattr(module.forward, "__func__", None) is nn.Module.forward
    if without_forward and type(module).__call__ is nn.Module.__call__:
        raise NotImplementedError
    has = parameters_of(module)
    matched, amiss = {}, {"missing": [], "shapes": {}, "renamed": [], "extra": [], "plain": []}
    for name in wanted:
        if name in has:
            matched[name] = has.pop(name)
        elif isinstance(getattr(module, name, None), torch.Tensor):
            matched[name] = getattr(module, name)
            amiss["plain"].append(name)
    apart = by_gate({name: tensor for name, tensor in wanted.items() if name not in matched}, has)
    gates = {part: has.pop(part) for parts in apart.values() for part in parts}
    has |= {whole: torch.cat([gates[part].detach() for part in parts]) for whole, parts in apart.items()}

    def take(name, other):
        parts, parameter = apart.pop(other, ()), has.pop(other)
        matched[name] = [gates.pop(part) for part in parts] or parameter
        amiss["renamed"].append([name, ", ".join(parts) or other])

    for name, alike in by_layer({name: tensor for name, tensor in wanted.items() if name not in matched}, has).items():
        take(name, alike)
    for name in wanted:
        if name not in matched and (alike := likeliest(name, wanted[name], has)):
            take(name, alike)
    has = {name: parameter for name, parameter in has.items() if name not in apart} | gates
    for name in wanted:
        if name not in matched:
            amiss["missing"].append(name)
    for name, parameter in matched.items():
        numbers = wanted[name]
        if isinstance(parameter, list):
            with torch.no_grad():
                for gate, chunk in zip(parameter, numbers.chunk(4)):
                    gate.copy_(chunk)
            continue
        if parameter.shape != numbers.shape:
            amiss["shapes"][name] = list(parameter.shape)
            if numbers.dim() == 2 and parameter.shape == numbers.T.shape:
                numbers = numbers.T
            elif parameter.numel() == numbers.numel():
                numbers = numbers.reshape(parameter.shape)
            else:
                raise Unfit("parameter_shape", name=name, expected=list(numbers.shape), got=list(parameter.shape))
        with torch.no_grad():
            parameter.requires_grad_().copy_(numbers) if parameter.is_leaf else parameter.copy_(numbers)
    for name, parameter in has.items():
        amiss["extra"].append(name)
        with torch.no_grad():
            parameter.zero_()
    missing = [name for name in amiss["missing"] if "bias" not in name]
    if missing:
        rows = {4 * len(parameter) for parameter in has.values() if parameter.dim() == 2}
        mistake = "gates_apart" if rows & {len(wanted[name]) for name in missing} else "parameter_missing"
        raise Unfit(mistake, name=", ".join(missing), got=", ".join(dict(module.named_parameters())))
    if amiss["missing"]:  # torch has two biases: a single one has no right name
        amiss["renamed"] = [pair for pair in amiss["renamed"] if "bias" not in pair[0]]
    outcome.notes |= {note: names for note, names in amiss.items() if names}
    return matched


def likeliest(name, tensor, has):
    """Return the name of the parameter that most likely stands for `name`: the same last word, or else this shape."""
    word = name.removesuffix("_l0")
    alike = [other for other in has if other.split(".")[-1].removesuffix("_l0") == word]
    same_shape = [other for other, parameter in has.items() if parameter.shape == tensor.shape]
    alike += sorted(same_shape, key=lambda other: is_recurrent(other) != ("hh" in name))
    return alike[0] if alike else None


# Parameters of several layers or directions under other names: cells in a `ModuleList`, weights in a `ParameterList`.
REVERSE_WORD = re.compile(r"rev|back|bwd|(?<![a-z])b(?![a-z])")


def by_layer(wanted, has):
    """Return an answer's names of parameters by torch's, where it has several of a kind, as many as torch has.

    Torch orders by layer, then by direction. So do most answers; for one that has all forward layers first, the order
    in which the shapes fit is taken.
    """
    ours, theirs = {}, {}
    for name in wanted:
        ours.setdefault(name.split("_l")[0], []).append(name)
    for name, parameter in has.items():
        theirs.setdefault(role_of(name, parameter), []).append(name)
    for parameter_type in ("weight", "bias"):
        ih, hh = f"{parameter_type}_ih", f"{parameter_type}_hh"
        both = theirs.get(ih, [])
        if not both and hh in theirs:  # torch has two biases: a single one has no right name
            theirs[ih] = theirs.pop(hh)
        elif hh not in theirs and len(both) == 2 * len(ours.get(hh, ())):  # undecided words: x comes before h
            theirs[hh] = [name for name in both if word_of(name) != word_of(both[0])]
            theirs[ih] = [name for name in both if word_of(name) == word_of(both[0])]
    shared = [role for role, names in ours.items() if len(names) == len(theirs.get(role, ())) > 1]
    matchings = [{}]
    for orders in zip(*(orders_of(theirs[role]) for role in shared)):
        matchings.append({name: other for role, order in zip(shared, orders) for name, other in zip(ours[role], order)})
    fit = [pairs for pairs in matchings if all(wanted[name].shape == has[other].shape for name, other in pairs.items())]
    return fit[-1] or matchings[-1]


def role_of(name, parameter):
    """Return `weight_ih`, `weight_hh`, `weight_hr` or `bias_…`, from a parameter's name and number of axes."""
    word = word_of(name)
    if re.search("hr|proj", word):
        side = "hr"
    elif re.search("ih|i2h|x2h|xh|inp", word):
        side = "ih"
    else:
        side = "hh" if "hh" in word or RECURRENT_NAME.match(word) else "ih"
    return f"{'bias' if parameter.dim() == 1 else 'weight'}_{side}"


def word_of(name):
    """Return the last word of a parameter's name that is not a number: `x2h` for `cells.0.x2h.weight`."""
    return next((piece for piece in owner(name).split(".")[::-1] if not piece.isdigit()), "")


def orders_of(names):
    """Return the names in their possible orders, the most plausible last."""
    forms = [*dict.fromkeys(re.sub(r"\d+", "0", name) for name in names)]

    def place(name):
        """Return the numbers in a name, then its direction by a word, then the order of creation."""
        form = re.sub(r"\d+", "0", name)
        words = re.sub(r"\.b$", "", form.lower())  # `b` is a bias here, not "backward"
        return [*map(int, re.findall(r"\d+", name))], bool(REVERSE_WORD.search(words)), forms.index(form)

    numbered = sorted(names, key=place)
    half = -(-len(names) // 2)
    return [[numbered[place % 2 * half + place // 2] for place in range(len(names))], numbered]


# A weight for each gate, such as `self.W_i = nn.Linear(…)`, recognised only if its name tells the gate.
GATES = {"input": 0, "i": 0, "forget": 1, "f": 1, "g": 2, "c": 2, "output": 3, "o": 3}
GATE_WORD = re.compile(
    r"forget|output|(?P<g>cell|cand(idate)?)(_?(cell|cand(idate)?|update|state|input))?|input|[ifgco](?=(_?([xhbwu]|bias|weight))?$)"
)
RECURRENT_NAME = re.compile(r"(lin(ear)?|fc|w(eights?)?|b(ias)?)?_?[hur]|.*([ifgco]|gate)_?h$|.*_h$")
TAIL = re.compile(
    r"(_(l|layer)_?\d+|_?\d+)?(_?(reverse|rev|back|backwards?|bwd|fwd|forwards?))?(_(l|layer)_?\d+|_?\d+)?$"
)
HEAD = re.compile(r"((rev(erse)?|back(wards?)?|bwd|fwd|forwards?)_)?")


def owner(name):
    """Return the path of the module or cell that a parameter belongs to, in small letters."""
    return re.sub(r"\.(weight|bias)$|_l0$", "", name).lower()


def is_recurrent(name):
    """Return True if a parameter's name tells that it multiplies the hidden state."""
    return bool(RECURRENT_NAME.match(word_of(name)))


def by_gate(wanted, has):
    """Return the groups of four parameters that together have a wanted shape, by a name for the whole."""
    shapes, groups = {tensor.shape for tensor in wanted.values()}, {}
    for name, parameter in has.items():
        if parameter.dim() and (4 * len(parameter), *parameter.shape[1:]) in shapes:
            whole, place = without_gate(name, parameter)
            groups.setdefault((whole, parameter.shape), {}).setdefault(place, name)
    return {
        whole: [parts[place] for place in range(4)] for (whole, _), parts in groups.items() if {*range(4)} <= {*parts}
    }


def without_gate(name, parameter):
    """Return a parameter's name without its gate, and the gate's place in torch's order; the name and None without one.

    The gate is removed from the last word that has one; this word then begins with `u` for the hidden state, or `x`.
    """
    pieces = re.sub(r"\.(weight|bias)$", "", name.lower()).split(".")
    for at, piece in reversed([*enumerate(pieces)]):
        stem, tail = piece[: (end := TAIL.search(piece)).start()], end[0]
        stem, head = stem[(begin := HEAD.match(stem)).end() :], begin[0]
        word = stem.replace("gate", "").strip("_")
        if gate := GATE_WORD.search(word):
            rest = (word[: gate.start()] + word[gate.end() :]).replace("_", "")
            pieces[at] = ("u" if RECURRENT_NAME.match(stem) else "x") + rest + head + tail
            whole = ".".join(pieces) + (".bias" if parameter.dim() == 1 else ".weight")
            return whole, 2 if gate["g"] else GATES[gate[0]]
    return name, None

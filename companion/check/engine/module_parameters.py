"""Set the parameters of an answer's module, also those that have other names or shapes than torch's."""

import re

import torch
from torch import nn

from companion.check.engine.probe import Unfit, kind


def parameters_of(module, prefix="", seen=None):
    """As `named_parameters`, which an answer may have written itself, under names of its choice."""
    seen, found = set() if seen is None else seen, {}
    for name, tensor in module._parameters.items():
        if tensor is not None and id(tensor) not in seen:
            seen.add(id(tensor))
            found[prefix + name] = tensor
    for name, inner in module._modules.items():
        if inner is not None and id(inner) not in seen:
            seen.add(id(inner))
            found |= parameters_of(inner, f"{prefix}{name}.", seen)
    return found


def set_parameters(module, wanted, outcome):
    """Sets a module's parameters from the probe, and returns them by the probe's names.

    What is amiss with them goes into the notes, and the call goes on as well as it can: `missing` and `shapes` (stored
    in another shape) are compared with the bank; `renamed`, `extra` and `plain` (a tensor that is no parameter) are
    mistakes of their own.
    """
    if not isinstance(module, nn.Module):
        raise Unfit("not_a_module", got=kind(module))
    without_forward = getattr(module.forward, "__func__", None) is nn.Module.forward
    if without_forward and type(module).__call__ is nn.Module.__call__:
        raise NotImplementedError
    has = parameters_of(module)
    found, amiss = {}, {"missing": [], "shapes": {}, "renamed": [], "extra": [], "plain": []}
    for name, _tensor in wanted.items():
        if name in has:
            found[name] = has.pop(name)
        elif isinstance(getattr(module, name, None), torch.Tensor):
            found[name] = getattr(module, name)
            amiss["plain"].append(name)
    apart = by_gate({name: tensor for name, tensor in wanted.items() if name not in found}, has)
    gates = {part: has.pop(part) for parts in apart.values() for part in parts}
    has |= {whole: torch.cat([gates[part].detach() for part in parts]) for whole, parts in apart.items()}

    def take(name, other):
        parts, parameter = apart.pop(other, ()), has.pop(other)
        found[name] = [gates.pop(part) for part in parts] or parameter
        amiss["renamed"].append([name, ", ".join(parts) or other])

    for name, alike in by_layer({name: tensor for name, tensor in wanted.items() if name not in found}, has).items():
        take(name, alike)
    for name in wanted:
        if name not in found and (alike := likest(name, wanted[name], has)):
            take(name, alike)
    has = {name: parameter for name, parameter in has.items() if name not in apart} | gates
    for name in wanted:
        if name not in found:
            amiss["missing"].append(name)
    for name, parameter in found.items():
        number = wanted[name]
        if isinstance(parameter, list):
            with torch.no_grad():
                for part, numbers in zip(parameter, number.chunk(4)):
                    part.copy_(numbers)
            continue
        if parameter.shape != number.shape:
            amiss["shapes"][name] = list(parameter.shape)
            if number.dim() == 2 and parameter.shape == number.T.shape:
                number = number.T
            elif parameter.numel() == number.numel():
                number = number.reshape(parameter.shape)
            else:
                raise Unfit("parameter_shape", name=name, expected=list(number.shape), got=list(parameter.shape))
        with torch.no_grad():
            parameter.requires_grad_().copy_(number) if parameter.is_leaf else parameter.copy_(number)
    for name, parameter in has.items():
        amiss["extra"].append(name)
        with torch.no_grad():
            parameter.zero_()
    missing = [name for name in amiss["missing"] if "bias" not in name]
    if missing:
        rows = {4 * len(parameter) for parameter in has.values() if parameter.dim() == 2}
        what = "gates_apart" if rows & {len(wanted[name]) for name in missing} else "parameter_missing"
        raise Unfit(what, name=", ".join(missing), got=", ".join(dict(module.named_parameters())))
    if amiss["missing"]:  # one bias has no right name to have
        amiss["renamed"] = [pair for pair in amiss["renamed"] if "bias" not in pair[0]]
    outcome.notes |= {what: names for what, names in amiss.items() if names}
    return found


def likest(name, tensor, has):
    """The parameter that is meant, under another name: one with the same last word, else the first of this shape."""
    word = name.removesuffix("_l0")
    alike = [other for other in has if other.split(".")[-1].removesuffix("_l0") == word]
    same_shape = [other for other, parameter in has.items() if parameter.shape == tensor.shape]
    alike += sorted(same_shape, key=lambda other: is_recurrent(other) != ("hh" in name))
    return alike[0] if alike else None


# Parameters of several layers or directions under other names: cells in a `ModuleList`, weights in a `ParameterList`.
REVERSE_WORD = re.compile(r"rev|back|bwd|(?<![a-z])b(?![a-z])")


def by_layer(wanted, has):
    """The other names of parameters by torch's, wherever there are several of a sort, and as many as torch has.

    Torch goes from layer to layer, and in each forwards and backwards. So do most answers; of one that has all that
    goes forwards first, the order is that in which the shapes fit.
    """
    ours, theirs = {}, {}
    for name in wanted:
        ours.setdefault(name.split("_l")[0], []).append(name)
    for name, parameter in has.items():
        theirs.setdefault(sort_of(name, parameter), []).append(name)
    for one in ("weight", "bias"):
        both, hh = theirs.get(f"{one}_ih", []), f"{one}_hh"
        if not both and hh in theirs:  # one bias has no right name to have
            theirs[f"{one}_ih"] = theirs.pop(hh)
        elif hh not in theirs and len(both) == 2 * len(ours.get(hh, ())):  # words that say nothing: x comes before h
            theirs[hh] = [name for name in both if word_of(name) != word_of(both[0])]
            theirs[f"{one}_ih"] = [name for name in both if word_of(name) == word_of(both[0])]
    shared = [one for one, names in ours.items() if len(names) == len(theirs.get(one, ())) > 1]
    found = [{}]
    for orders in zip(*(orders_of(theirs[one]) for one in shared)):
        found.append({name: other for one, order in zip(shared, orders) for name, other in zip(ours[one], order)})
    fit = [pairs for pairs in found if all(wanted[name].shape == has[other].shape for name, other in pairs.items())]
    return fit[-1] or found[-1]


def sort_of(name, parameter):
    """`weight_ih` and so on, by a parameter's name and number of axes."""
    word = word_of(name)
    if re.search("hr|proj", word):
        side = "hr"
    elif re.search("ih|i2h|x2h|xh|inp", word):
        side = "ih"
    else:
        side = "hh" if "hh" in word or RECURRENT_NAME.match(word) else "ih"
    return f"{'bias' if parameter.dim() == 1 else 'weight'}_{side}"


def word_of(name):
    """The last word of a parameter's name that is no number: `cells.0.x2h.weight` is `x2h`."""
    return next((piece for piece in owner(name).split(".")[::-1] if not piece.isdigit()), "")


def orders_of(names):
    """The names in the orders in which they may be meant, the most plausible last."""
    forms = [*dict.fromkeys(re.sub(r"\d+", "0", name) for name in names)]

    def place(name):
        """The numbers in a name, then its direction: by a word, else by what was made first."""
        form = re.sub(r"\d+", "0", name)
        said = re.sub(r"\.b$", "", form.lower())  # a bias of that name goes no way
        return [*map(int, re.findall(r"\d+", name))], bool(REVERSE_WORD.search(said)), forms.index(form)

    numbered = sorted(names, key=place)
    half = -(-len(names) // 2)
    return [[numbered[place % 2 * half + place // 2] for place in range(len(names))], numbered]


# Weights of a gate each, such as `self.W_i = nn.Linear(…)`. Only where the names say which is which.
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
    return re.sub(r"\.(weight|bias)$|_l0$", "", name).lower()


def is_recurrent(name):
    """Whether a parameter's name says that it is for the hidden state."""
    return bool(RECURRENT_NAME.match(word_of(name)))


def by_gate(wanted, has):
    """The parameters that together have a shape that is wanted: four names for each, by one that the whole could
    have."""
    shapes, found = {tensor.shape for tensor in wanted.values()}, {}
    for name, parameter in has.items():
        if parameter.dim() and (4 * len(parameter), *parameter.shape[1:]) in shapes:
            whole, place = without_gate(name, parameter)
            found.setdefault((whole, parameter.shape), {}).setdefault(place, name)
    return {
        whole: [parts[place] for place in range(4)] for (whole, _), parts in found.items() if {*range(4)} <= {*parts}
    }


def without_gate(name, parameter):
    """A parameter's name as it could be for all gates, and the place in torch's order of the one that it says, if any.

    The last word that says a gate is left without it, and begins with `u` if it is for the hidden state, else with `x`.
    """
    pieces = re.sub(r"\.(weight|bias)$", "", name.lower()).split(".")
    for at, piece in reversed([*enumerate(pieces)]):
        stem, tail = piece[: (end := TAIL.search(piece)).start()], end[0]
        stem, head = stem[(begin := HEAD.match(stem)).end() :], begin[0]
        word = stem.replace("gate", "").strip("_")
        if said := GATE_WORD.search(word):
            rest = (word[: said.start()] + word[said.end() :]).replace("_", "")
            pieces[at] = ("u" if RECURRENT_NAME.match(stem) else "x") + rest + head + tail
            return ".".join(pieces) + (".bias" if parameter.dim() == 1 else ".weight"), (
                2 if said["g"] else GATES[said[0]]
            )
    return name, None

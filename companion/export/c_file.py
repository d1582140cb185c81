"""The text of the file that `to_c` writes: the C of `c_source.py`, with the sizes and weights of a network."""

from collections.abc import Iterable, Iterator
from string import Template

from torch import Tensor

from companion.export import c_source
from companion.export.c_parts import Network, to_int8

GATES = {"LSTM": "ifgo", "GRU": "rzn", "MinGRU": "zn"}  # in the order of the rows
LINE = {True: 20, False: 8}  # numbers in a line of the file: int8, float


def pieces(network: Network, weights: dict[str, Tensor], costs: object, int8: bool) -> Iterator[str]:
    """Yield the parts of the file, each ending with a line break. costs: a `Costs`, for the comment at the top."""
    kind, reads = network.kind, network.reads
    argument = c_source.ARGUMENTS[reads]
    yield Template(c_source.HEAD).substitute(
        structure="\n".join(f" *     {line}" for line in structure(network, int8)),
        costs=costs,
        argument=argument.split()[-1].strip("*"),
        input="an index" if "index" in argument else "INPUTS numbers",
        sizes=", ".join(f"{name} = {size}" for name, size in sizes(network).items()),
    )
    fields = [*c_source.STATES[kind], *([c_source.VECTOR] if reads == "table" else []), *c_source.WORK[kind]]
    yield "\n".join(
        ["struct network_state {", *(f"    float {name}{size}; /* {what} */" for name, size, what in fields), "};", ""]
    )
    numbers = c_source.NUMBERS[int8]
    yield Template(c_source.MATRIX).substitute(numbers)
    if reads == "table":
        yield Template(c_source.ROW).substitute(numbers)
    if reads == "one-hot":
        yield Template(c_source.COLUMN).substitute(numbers)
    yield c_source.FUNCTIONS
    if kind != "MinGRU":
        yield c_source.TANH
    yield f"struct layer {{\n    {c_source.LAYERS[kind]}\n}};\n"
    yield c_source.STEPS[kind]
    for name, weight in weights.items():
        yield from array(name, weight, GATES[kind] if name[-1].isdigit() else "", int8)
    yield table_of_layers(network, weights, int8)
    yield functions(network, weights)


def sizes(network: Network) -> dict[str, int]:
    """Return the sizes by their names in C."""
    recurrent = network.recurrent
    table = {"EMBEDDINGS": network.embedding.num_embeddings} if network.reads == "table" else {}
    table |= {"INPUTS": recurrent.input_size, "HIDDEN": recurrent.hidden_size, "LAYERS": recurrent.num_layers}
    return table | {"OUTPUTS": network.linear.out_features}


def structure(network: Network, int8: bool) -> Iterator[str]:
    """Yield one line for each part of the network."""
    recurrent, linear = network.recurrent, network.linear
    yield {
        "table": f"index → row of a table ({getattr(network.embedding, 'num_embeddings', 0)}, {recurrent.input_size})",
        "one-hot": f"index → unit vector ({recurrent.input_size})",
        "numbers": f"vector ({recurrent.input_size})",
    }[network.reads]
    layers = "1 layer" if recurrent.num_layers == 1 else f"{recurrent.num_layers} layers"
    yield f"→ {network.kind}, {layers} of {recurrent.hidden_size} units → outputs ({linear.out_features})"
    yield "weights in int8 with a scale for each row, biases in float32" if int8 else "weights in float32"


def array(name: str, weight: Tensor, gates: str, int8: bool) -> Iterator[str]:
    """Yield a weight as an array of C, in int8 with the array of its scales if it is a matrix.

    weight: (rows, columns) or (rows). gates: letters of the blocks of rows, or "".
    """
    both = "b_ih + b_hh, " if name.startswith("bias_l") else ""
    of_gates = f", rows of the gates {', '.join(gates)}" if gates else ""
    shape = ", ".join(map(str, weight.shape))
    small = int8 and weight.dim() == 2
    values, scales = to_int8(weight) if small else (weight, None)
    lines = [
        f"/* {both}({shape}){of_gates} */",
        f"static const {'int8_t' if small else 'float'} {name}[{weight.numel()}] = {{",
    ]
    for gate, rows in zip(gates or " ", values.chunk(len(gates) or 1), strict=True):
        lines += [f"    /* {gate} */"] if gates else []
        numbers = rows.flatten().tolist()
        texts = [str(int(number)) for number in numbers] if small else [written(number) for number in numbers]
        lines += lines_of(texts, LINE[small])
    yield "\n".join([*lines, "};", ""])
    if scales is not None:
        texts = lines_of(map(written, scales.tolist()), LINE[False])
        yield "\n".join([f"static const float {name}_scales[{len(scales)}] = {{", *texts, "};", ""])


def lines_of(texts: Iterable[str], count: int) -> list[str]:
    """Return the elements of an array of C, `count` in a line."""
    texts = [*texts]
    return [f"    {', '.join(texts[k : k + count])}," for k in range(0, len(texts), count)]


def written(number: float) -> str:
    """Return a float32 as a constant of C: with nine digits a compiler finds the same number."""
    text = f"{number:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def table_of_layers(network: Network, weights: dict[str, Tensor], int8: bool) -> str:
    """Return the arrays of the layers and of the other matrices, with their sizes."""

    def matrix(name):
        rows, columns = weights[name].shape
        return f"{{ {rows}, {columns}, {name}{f', {name}_scales' if int8 else ''} }}"

    fields = {"LSTM": "weight_ih weight_hh bias", "GRU": "weight_ih weight_hh bias_ih bias_hh"}
    lines, separator = [], ",\n      "
    for layer in range(network.recurrent.num_layers):
        names = [f"{name}_l{layer}" for name in fields.get(network.kind, "weight_ih bias_ih").split()]
        elements = [matrix(name) if name.startswith("weight") else name if name in weights else "0" for name in names]
        lines.append(f"    {{ {separator.join(elements)} }},")
    others = [name for name in ("embedding", "linear") if f"{name}_weight" in weights]
    matrices = [f"static const struct matrix {name} =\n    {matrix(f'{name}_weight')};" for name in others]
    return "\n".join(["static const struct layer layers[LAYERS] = {", *lines, "};", *matrices, ""])


def functions(network: Network, weights: dict[str, Tensor]) -> str:
    """Return `network_reset` and `network_step`."""
    kind, reads = network.kind, network.reads
    names = [name for name, _, _ in c_source.STATES[kind]]
    reset = Template(c_source.RESET).substitute(
        and_c=" and c_0" if "c" in names else "", zeros=" = ".join(f"s->{name}[l][j]" for name in names) + " = 0"
    )
    bias = {"b": "b_ih", "b_is": "b_ih"} if kind == "GRU" else {"b": "b", "b_is": "b_ih"}
    if kind == "LSTM":
        bias["b_is"] = "b_ih + b_hh"
    sums = Template(c_source.ONE_HOT_SUMS if reads == "one-hot" else c_source.SUMS).substitute(bias)
    step = Template(c_source.NETWORK_STEP).substitute(
        argument=c_source.ARGUMENTS[reads],
        argument_is=c_source.ARGUMENTS_ARE[reads],
        read=c_source.READS[reads],
        sums=sums,
        step=c_source.CALLS[kind],
        bias="linear_bias" if "linear_bias" in weights else "0",
    )
    return f"{reset}\n{step}"

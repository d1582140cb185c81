"""An ONNX graph, to which one operator after another is added. A value in it is known by its name."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

# The versions of the operators and of the file. torch.onnx.export writes the same ones.
OPERATORS, FILE = 20, 10


class Graph:
    """The inputs, weights, operators and outputs of a network.

    onnx: the package. Methods that add a value return its name.
    """

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.int32 = onnx.TensorProto.INT32
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.weights: list[Any] = []
        self.nodes: list[Any] = []

    def value(self, name: str, shape: list[Any], features: int | None) -> Any:
        """Return the description of a value: float32 (*shape, features), or int64 (*shape) if features is None."""
        types = self.onnx.TensorProto
        kind, shape = (types.INT64, shape) if features is None else (types.FLOAT, [*shape, features])
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def input(self, name: str, shape: list[Any], features: int | None = None) -> str:
        """Add an input; a string in its shape is a free size."""
        self.inputs.append(self.value(name, shape, features))
        return name

    def output(self, value: str, name: str, shape: list[Any], features: int) -> None:
        """Make a value an output with this name."""
        self.outputs.append(self.value(name, shape, features))
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = [name if each == value else each for each in names]

    def constant(self, tensor: Tensor) -> str:
        """Add a tensor, in float32 unless it is integers, and return its name."""
        name = f"weight_{len(self.weights)}"
        tensor = tensor.detach().cpu()
        array = (tensor.float() if tensor.is_floating_point() else tensor).contiguous().numpy()
        self.weights.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add an operator; return the name of its output, or a list of names if it has several."""
        name = f"{operator}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{k}" for k in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, name, **attributes))
        return name if outputs == 1 else names

    def split(self, value: str, parts: int, axis: int = 0) -> list[str]:
        """Split a value into equal parts."""
        return self.add("Split", value, outputs=parts, axis=axis, num_outputs=parts) if parts > 1 else [value]

    def join(self, values: Sequence[str], axis: int) -> str:
        """Concatenate values."""
        return self.add("Concat", *values, axis=axis) if len(values) > 1 else values[0]

    def scan(self, h: str, a: str, b: str, size: int, reverse: bool) -> list[str]:
        """Add h_t = a_t ⊙ h_{t-1} + b_t over all time steps; return the last state and all of them.

        h: (B, size). a, b: (T, B, size). reverse: begin with the last time step.
        """
        helper = self.onnx.helper
        steps = [
            helper.make_node("Mul", ["a", "h"], ["kept"]),
            helper.make_node("Add", ["kept", "b"], ["h_new"]),
            helper.make_node("Identity", ["h_new"], ["output"]),
        ]
        before, after = ([self.value(name, ["B"], size) for name in names] for names in ("hab", ["h_new", "output"]))
        options = {"scan_input_directions": [int(reverse)] * 2, "scan_output_directions": [int(reverse)]}
        body = helper.make_graph(steps, "step", before, after)
        return self.add("Scan", h, a, b, outputs=2, body=body, num_scan_inputs=2, **options)

    def model(self, name: str) -> Any:
        """Return the graph as a model with this name."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)
        versions = {"opset_imports": [helper.make_opsetid("", OPERATORS)], "ir_version": FILE}
        return helper.make_model(graph, producer_name="unrolled", **versions)

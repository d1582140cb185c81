"""User-defined operations with their own gradient: `torch.autograd.Function`."""

from ..messages import error
from ..tape import Node, changed_error, no_grad, recording
from ..tensor import Tensor


class _Context:
    """The `ctx` through which a Function's forward passes data to its backward."""

    needs_input_grad, materialize_grads, node = (), True, None

    def __init__(self):
        self.non_differentiable = self.dirty = self.to_save = ()

    @property
    def saved_tensors(self):
        return self.to_save if self.node is None else self.node.read_saved()

    def save_for_backward(self, *tensors):
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Do nothing: there is no forward-mode AD here."""

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """Say which inputs `forward` changed in place; these are the results."""
        self.dirty = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class FunctionNode(Node):
    """The node of a Function. Only if `backward` reads the saved tensors, they must be there, and unchanged."""

    kept, freed = (), False

    def gradients(self, output_gradients):
        self.freed = self.freed or self.rule is None
        self.rule, self.kept, self.saved = self.call, self.saved, ()
        try:
            return super().gradients(output_gradients)
        finally:
            self.saved, self.kept = self.kept, ()

    def read_saved(self):
        if self.freed:
            raise error("freed")
        for tensor, version in self.kept:
            if tensor._changes[0] != version:
                raise changed_error(tensor, version)
        tensors = iter(self.kept)
        return tuple(next(tensors)[0] if there else None for there in self.places)


class Function:
    """A user-defined operation: `forward(ctx, *inputs)` and `backward(ctx, *gradients)`.

    It is called with `apply`.
    """

    @classmethod
    def apply(cls, *arguments):
        """Run `forward`, and record `backward` as the rule of the result."""
        context = _Context()
        tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
        context.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in arguments)
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            returned = cls.forward(*arguments) if separate else cls.forward(context, *arguments)
            if separate:
                cls.setup_context(context, arguments, returned)
        results = returned if isinstance(returned, tuple) else (returned,)
        to_save, context.to_save = context.to_save, ()
        if not (recording[0] and any(tensor.requires_grad for tensor in tensors)):
            return returned

        def rule(*gradients):
            if not context.materialize_grads:
                gradients = [None if id(g) in missing else g for g in gradients]
            context.node = node
            input_gradients = cls.backward(context, *gradients)
            input_gradients = input_gradients if isinstance(input_gradients, tuple) else (input_gradients,)
            extra = input_gradients[len(arguments) :]
            if len(input_gradients) < len(arguments) or any(gradient is not None for gradient in extra):
                raise error("number of gradients", cls.__name__, len(arguments), len(input_gradients))
            return [g for g, argument in zip(input_gradients, arguments) if isinstance(argument, Tensor)]

        missing = set()
        dirty = {id(tensor) for tensor in context.dirty}
        outputs = [Tensor(x._array) if isinstance(x, Tensor) and id(x) not in dirty else x for x in results]
        output_tensors = [x for x in outputs if isinstance(x, Tensor)]
        # A saved tensor that is an output is replaced by the recorded output, so that second derivatives reach it.
        replaced = {id(old): new for old, new in zip(results, outputs)}
        saved = [x if x is None else replaced.get(id(x), x) for x in to_save]
        node = FunctionNode(cls.__name__, tensors, rule, [x for x in saved if x is not None], len(output_tensors))
        node.call, node.places = rule, [x is not None for x in saved]
        del saved
        node.title = cls.__name__
        node.name_of = lambda output: f"{cls.__name__}Backward"
        non_differentiable = {id(tensor) for tensor in context.non_differentiable}
        result_tensors = [x for x in results if isinstance(x, Tensor)]
        for number, (old, new) in enumerate(zip(result_tensors, output_tensors)):
            node.shapes[number] = new._array.shape, new._array.dtype
            if new.dtype.kind >= 2 and id(old) not in non_differentiable:
                new._grad_fn, new._requires_grad, new._output = node, True, number
        return tuple(outputs) if isinstance(returned, tuple) else outputs[0]

    def __call__(self, *arguments, **options):
        raise error("legacy function")

    @staticmethod
    def forward(*arguments, **options):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *gradients):
        raise error("no backward")


Function.__module__ = "torch.autograd.function"

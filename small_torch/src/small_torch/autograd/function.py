"""User-defined operations with their own gradient: `torch.autograd.Function`."""

from ..messages import error, refuse
from ..tape import Node, changed_error, check_saved, no_grad, recording
from ..tensor import Tensor


class _Context:
    """The `ctx` through which a Function's forward passes data to its backward."""

    needs_input_grad, materialize_grads = (), True
    _to_save = _dirty = _non_differentiable = ()
    _saved = None  # (tensor, version) of the tensors that are saved, after forward

    @property
    def saved_tensors(self):
        """The saved tensors, which must be there, and unchanged."""
        refuse(self._saved is None and self._to_save is None, "freed")
        for tensor, version in self._saved or ():
            if tensor is not None and tensor._changes[0] != version:
                raise changed_error(tensor, version)
        return self._to_save if self._saved is None else tuple(tensor for tensor, _ in self._saved)

    def save_for_backward(self, *tensors):
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Do nothing: there is no forward-mode AD here."""

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """Say which inputs `forward` changed in place; these are the results."""
        self._dirty = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class FunctionNode(Node):
    """The node of a Function, whose context saves tensors."""

    def name_of(self, output):
        return f"{self.title}Backward"

    def free(self):
        self.context._saved = self.context._to_save = None


class Function:
    """A user-defined operation: `forward(ctx, *inputs)` and `backward(ctx, *gradients)`.

    It is called with `apply`.
    """

    @classmethod
    def apply(cls, *arguments):
        """Run `forward`, and record `backward` as the rule of the result."""
        context = _Context()
        context.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in arguments)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                returned = cls.forward(context, *arguments)
            else:
                returned = cls.forward(*arguments)
                cls.setup_context(context, arguments, returned)
        if not (recording[0] and any(context.needs_input_grad)):
            return returned

        def rule(*gradients):
            found = cls.backward(context, *gradients)
            found = found if isinstance(found, tuple) else (found,)
            extra = found[len(arguments) :]
            if len(found) < len(arguments) or any(gradient is not None for gradient in extra):
                raise error("number of gradients", cls.__name__, len(arguments), len(found))
            return [g for g, argument in zip(found, arguments) if isinstance(argument, Tensor)]

        for tensor in context._dirty:
            leaf = tensor.is_leaf and tensor.requires_grad
            refuse(leaf, "a leaf Variable that requires grad has been used in an in-place operation.")
        changed, fixed = ({id(x) for x in tensors} for tensors in (context._dirty, context._non_differentiable))
        results = returned if isinstance(returned, tuple) else (returned,)
        outputs = [Tensor(x._array) if isinstance(x, Tensor) and id(x) not in changed else x for x in results]
        pairs = [(old, new) for old, new in zip(results, outputs) if isinstance(old, Tensor)]
        node = FunctionNode(cls.__name__, [x for x in arguments if isinstance(x, Tensor)], rule, outputs=len(pairs))
        node.context, node.takes_none = context, not context.materialize_grads
        # A saved tensor that is an output is replaced by the recorded output, so that second derivatives reach it.
        recorded = {id(old): new for old, new in pairs}
        saved = [recorded.get(id(x), x) for x in context._to_save]
        for tensor in saved:
            if tensor is not None:
                check_saved(tensor)
        context._saved = [(x, None if x is None else x._changes[0]) for x in saved]
        for number, (old, new) in enumerate(pairs):
            node.shapes[number] = new._array.shape, new._array.dtype
            if new.dtype.kind >= 2 and id(old) not in fixed:
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

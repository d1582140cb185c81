"""Operations with rules of one's own: `torch.autograd.Function`."""

from ..tape import Node, no_grad, recording
from ..tensor import Tensor


class _Context:
    """What a Function's forward leaves for its backward."""

    saved_tensors, needs_input_grad, materialize_grads = (), (), True

    def __init__(self):
        self.never = ()

    def save_for_backward(self, *tensors):
        self.to_save = tensors

    def mark_non_differentiable(self, *tensors):
        self.never = tensors

    def mark_dirty(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class Function:
    """An operation with a rule of one's own: `forward(ctx, *inputs)` and `backward(ctx, *gradients)`, called with
    `apply`."""

    @classmethod
    def apply(cls, *arguments):
        context = _Context()
        tensors = [one for one in arguments if isinstance(one, Tensor)]
        context.needs_input_grad = tuple(isinstance(one, Tensor) and one.requires_grad for one in arguments)
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            returned = cls.forward(*arguments) if separate else cls.forward(context, *arguments)
            if separate:
                cls.setup_context(context, arguments, returned)
        results = returned if isinstance(returned, tuple) else (returned,)
        to_save = getattr(context, "to_save", ())
        if not (recording[0] and any(one.requires_grad for one in tensors)):
            context.saved_tensors = to_save
            return returned

        def rule(*gradients):
            if not context.materialize_grads:
                gradients = [None if id(one) in missing else one for one in gradients]
            context.saved_tensors = tuple(saved)
            found = cls.backward(context, *gradients)
            found = found if isinstance(found, tuple) else (found,)
            if len(found) < len(arguments):
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of gradients (expected "
                    f"{len(arguments)}, got {len(found)})"
                )
            return [one for one, given in zip(found, arguments) if isinstance(given, Tensor)]

        missing = set()
        fresh = [Tensor(one._array) if isinstance(one, Tensor) else one for one in results]
        made = [one for one in fresh if isinstance(one, Tensor)]
        # A tensor that is an output as well as saved is the output: its gradient's gradient goes the same way.
        replaced = {id(old): new for old, new in zip(results, fresh)}
        saved = [one if one is None else replaced.get(id(one), one) for one in to_save]
        node = Node(cls.__name__, tensors, rule, [one for one in saved if one is not None], len(made))
        node.title = cls.__name__
        node.name_of = lambda output: f"{cls.__name__}Backward"
        never = {id(one) for one in context.never}
        for number, (old, new) in enumerate(zip([one for one in results if isinstance(one, Tensor)], made)):
            node.shapes[number] = new._array.shape, new._array.dtype
            if new.dtype.kind >= 2 and id(old) not in never:
                new._grad_fn, new._requires_grad, new._output = node, True, number
        return tuple(fresh) if isinstance(returned, tuple) else fresh[0]

    @staticmethod
    def forward(*arguments, **options):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *gradients):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )


Function.__module__ = "torch.autograd.function"

"""Questions of the assignment `series`: packing, padding, windows, scaling, baselines and a rolling origin."""

import torch

from companion.check.engine.probe import Unfit, form, spelled
from companion.check.engine.run_answer import Function
from companion.check.questions.training.inputs_and_targets import table_of


class Results(Function):
    """Call a function with several results, each of which may also be a list, an array or a number."""

    def __call__(self, answer, probe, outcome):
        """Call an answer on a probe, and put its results into the outcome."""

        def as_tensors(*arguments):
            returned = answer(*arguments)
            if isinstance(returned, tuple | list) and len(returned) != len(self.results):
                # which results are missing is unknown, so that none is compared
                raise Unfit("wrong_form", name=spelled(self.results), got=form(returned))
            return converted(returned, len(self.results))

        super().__call__(as_tensors, probe, outcome)


def converted(returned, count):
    """Return `count` results as a tuple of tensors, or unchanged where that is impossible."""
    if not isinstance(returned, tuple | list | torch.Tensor) or getattr(returned, "shape", None) == ():
        return returned
    results = [*returned]
    if len(results) != count:
        return returned
    tables = [*map(table_of, results)]
    return tuple(result if table is None else table for result, table in zip(results, tables))

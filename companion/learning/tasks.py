"""Tasks that memory decides, made by code, and how well a model does them.

Each task is a supply of batches for `companion.learning.training.train`: `epoch(number)` makes new ones, the same for
the same number. T is their length in time steps, B the size of a batch.
"""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from companion.learning.sequence_model import evaluation_of
from companion.learning.training import IGNORED
from companion.learning.windows import generator_of


class Task:
    """What the tasks share. seed: with the number of an epoch it decides all random numbers."""

    carried = False

    if TYPE_CHECKING:

        def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]: ...

    def __init__(self, batch_size: int = 64, batches: int = 50, seed: int = 0) -> None:
        self.batch_size, self.batches, self.seed = batch_size, batches, seed

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return self.batches

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of an epoch, (inputs, targets)."""
        generator = generator_of(self.seed, number)
        for _ in range(self.batches):
            yield self.batch(generator)


class Recall(Task):
    """One of 8 symbols, then `gap` steps of noise, then the question: which was it?

    gap: a number, or a range (shortest, longest) from which each batch draws its own. inputs: indices (gap + 2, B), 0
    to 7 the symbols, 8 to 15 noise, 16 the question. targets: (gap + 2, B), the symbol at the last step, `IGNORED`
    before. By guessing, one in 8 is right.
    """

    symbols, vocab_size = 8, 17

    def __init__(self, gap: int | tuple[int, int], **options: Any) -> None:
        super().__init__(**options)
        self.shortest, self.longest = (gap, gap) if isinstance(gap, int) else gap
        if not 0 <= self.shortest <= self.longest:
            raise ValueError(f"gap must be a number from 0 on, or a range (shortest, longest), not {gap}")

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        gap = int(torch.randint(self.shortest, self.longest + 1, (1,), generator=generator))
        inputs = torch.randint(self.symbols, 2 * self.symbols, (gap + 2, self.batch_size), generator=generator)
        symbol = inputs[0] = inputs[0] - self.symbols
        inputs[-1] = 2 * self.symbols
        targets = torch.full_like(inputs, IGNORED)
        targets[-1] = symbol
        return inputs, targets


class Brackets(Task):
    """Nested brackets of three kinds: at each closing one, which kind must it be?

    length: of a sequence, even. deepest: how many brackets may be open at once. inputs: indices (length, B), 0 to 2 the
    opening brackets, 3 to 5 the closing ones. targets: (length, B), 0 to 2 the kind of the bracket that closes at the
    next step, `IGNORED` where the next one opens. By guessing, one in 3 is right; by always answering with the bracket
    that was opened last, closed or not, 70% are, of 40 brackets with up to 8 open.
    """

    kinds, vocab_size = 3, 6

    def __init__(self, length: int, deepest: int = 8, **options: Any) -> None:
        super().__init__(**options)
        if length < 2 or length % 2 or deepest < 1:
            raise ValueError(f"length must be even and above 0, deepest at least 1, not {length} and {deepest}")
        self.length, self.deepest = length, deepest

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        choices = torch.rand(self.batch_size, self.length, generator=generator).tolist()
        kinds = torch.randint(self.kinds, (self.batch_size, self.length), generator=generator).tolist()
        inputs, targets = [], []
        for row in range(self.batch_size):
            open_: list[int] = []
            word, answer = [], []
            for t in range(self.length):
                left = self.length - t  # all that is open must still be closed
                must_close = len(open_) == min(left, self.deepest)
                if open_ and (must_close or choices[row][t] < 0.5):
                    answer.append(open_[-1])
                    word.append(self.kinds + open_.pop())
                else:
                    answer.append(IGNORED)
                    open_.append(kinds[row][t])
                    word.append(open_[-1])
            inputs.append(word)
            targets.append([*answer[1:], IGNORED])
        return torch.tensor(inputs).T, torch.tensor(targets).T


class Adding(Task):
    """The adding problem: of many numbers, add the two that are marked.

    Hochreiter and Schmidhuber (1997, section 5.4) drew from [-1, 1] and asked for 0.5 + (X_1 + X_2) / 4; this form
    is that of later papers, such as Le, Jaitly and Hinton (2015, arXiv 1504.00941).

    length: of a sequence, at least 2. inputs: (length, B, 2), a number from U(0, 1) and a mark, which is 1 at one place
    in the first half and one in the second, else 0. targets: (B), the sum of the two numbers. Who always answers 1 has
    a mean squared error of 1/6.
    """

    def __init__(self, length: int, dtype: torch.dtype | None = None, **options: Any) -> None:
        super().__init__(**options)
        if length < 2:
            raise ValueError(f"length must be at least 2, not {length}")
        self.length, self.dtype = length, dtype

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        numbers = torch.rand(self.length, self.batch_size, generator=generator, dtype=self.dtype)
        half, marks = self.length // 2, torch.zeros_like(numbers)
        for start, stop in ((0, half), (half, self.length)):
            places = torch.randint(start, stop, (self.batch_size,), generator=generator)
            marks[places, torch.arange(self.batch_size)] = 1
        return torch.stack([numbers, marks], dim=-1), (numbers * marks).sum(0)

    @staticmethod
    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean squared error of the last output. outputs: (length, B, 1). targets: (B)."""
        return (outputs[-1, :, 0] - targets).square().mean()


class Cups(Task):
    """A ball lies under the first of some cups; at each step two of them change places, or none: where is it now?

    With two cups it is the question whether there were evenly or oddly many changes. cups: how many. length: of a
    sequence.
    inputs: indices (length, B), 0 nothing, p the p-th pair of places of `pairs`. targets: (length, B), where the ball
    is after the step. By guessing, one in `cups` is right.
    """

    def __init__(self, cups: int, length: int, **options: Any) -> None:
        super().__init__(**options)
        if cups < 2 or length < 1:
            raise ValueError(f"there must be two cups and one step at least, not {cups} and {length}")
        self.length = length
        self.pairs = list(itertools.combinations(range(cups), 2))
        self.vocab_size = 1 + len(self.pairs)
        # moves[p, place]: where a ball goes by the change p
        moves = [list(range(cups)) for _ in range(self.vocab_size)]
        for move, (one, other) in zip(moves[1:], self.pairs, strict=True):
            move[one], move[other] = other, one
        self.moves = torch.tensor(moves)

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        inputs = torch.randint(self.vocab_size, (self.length, self.batch_size), generator=generator)
        place, targets = torch.zeros(self.batch_size, dtype=torch.long), []
        for changes in inputs:
            place = self.moves[changes, place]
            targets.append(place)
        return inputs, torch.stack(targets)


class Rewritten(Task):
    """Values are written under keys, over older ones too; then for one key after another: which value was its last?

    keys, values: how many there are. writes: how many are written, at least `keys`: each key once, the others at
    random. inputs: indices (writes + keys, B), key * values + value where it is written, keys * values + key where it
    is asked for. targets: of the same shape, the value at the questions, `IGNORED` before. By guessing, one in `values`
    is right.
    """

    def __init__(self, keys: int, values: int, writes: int, **options: Any) -> None:
        super().__init__(**options)
        if not (keys >= 1 and values >= 2 and writes >= keys):
            raise ValueError(
                f"there must be a key, two values, and as many writes as keys, not {keys}, {values} and {writes}"
            )
        self.keys, self.values, self.writes = keys, values, writes
        self.vocab_size = keys * values + keys

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        B = self.batch_size
        random = lambda *shape: torch.rand(*shape, generator=generator)  # noqa: E731
        others = torch.randint(self.keys, (self.writes - self.keys, B), generator=generator)
        keys = torch.cat([torch.arange(self.keys)[:, None].expand(-1, B), others])
        keys = keys.gather(0, random(self.writes, B).argsort(dim=0, stable=True))
        values = torch.randint(self.values, (self.writes, B), generator=generator)
        last = torch.zeros(self.keys, B, dtype=torch.long)
        for key, value in zip(keys, values, strict=True):
            last[key, torch.arange(B)] = value
        asked = random(self.keys, B).argsort(dim=0, stable=True)
        targets = torch.full((self.writes + self.keys, B), IGNORED)
        targets[self.writes :] = last.gather(0, asked)
        return torch.cat([keys * self.values + values, self.keys * self.values + asked]), targets


def accuracy(model: nn.Module, task: Task, epoch: int = -1) -> float:
    """The share of a task's questions that a model answers rightly. epoch: another than those it learned from."""
    right = asked = 0
    with evaluation_of(model):
        for inputs, targets in task.epoch(epoch):
            answers = model(inputs)[0].argmax(dim=-1)
            is_asked = targets != IGNORED
            right += int((answers == targets)[is_asked].sum())
            asked += int(is_asked.sum())
    return right / asked

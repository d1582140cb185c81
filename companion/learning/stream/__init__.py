"""A trained network in use: values of many users arrive, in any portions, and each user has a state.

    stream = Stream(model, vocabulary=vocabulary, end="\\n")
    stream.push([("anna", "I"), ("ben", "The")])     # predictions after each character
    stream.push([("anna", " am")])                   # goes on where anna's text stopped
    stream.save("run.safetensors")                   # model, vocabulary and all states; Stream.load reads it

In any portions, with any other users beside, and interrupted by `save` and `load`, the predictions are those of the
model that reads each user's values at once. As a program, which reads lines from the standard input:

    python -m companion.learning.stream run.safetensors
"""

import math
import numbers
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from companion.learning.sequence_model import evaluation_of
from companion.learning.series import Scaling
from companion.learning.stream.file import load_stream, save_stream
from companion.learning.stream.states import SAMPLE, States, User
from companion.learning.text import Vocabulary

LONGEST_NAME = 200  # characters of a user or session


class Arrived(NamedTuple):
    """One value or several that arrived from a user.

    values: a text, if the stream has a vocabulary; else an index or a number, a list of them, or a tensor (T) or
    (T, features); for named features a dict, or a list of dicts. time: in seconds, from any beginning, for the rule
    `gap`. session: a document, a person or the like; with another one, the state begins anew.
    """

    user: str
    values: Any
    time: float | None = None
    session: str | None = None


@dataclass
class Piece:
    """Values (T, …) of one user that the model reads at once, and its outputs (T, num_outputs)."""

    user: str
    row: int
    begins: bool
    inputs: Tensor
    outputs: Tensor = field(default_factory=lambda: torch.empty(0))


def checked(one: Any) -> Arrived:
    """Return what arrived as an `Arrived`; ValueError for anything else, and for a user who cannot be stored."""
    if not isinstance(one, (tuple, list)) or not 2 <= len(one) <= len(Arrived._fields):
        raise ValueError(f"expected (user, values) and possibly time and session, got {str(one)[:60]!r}")
    one = Arrived(*one)
    check_name("the name of a user", one.user)
    return one


def check_name(what: str, name: Any) -> None:
    """Raise ValueError for a name that is no string, is too long, or cannot be written as UTF-8."""
    if not isinstance(name, str):
        raise ValueError(f"{what} is a string, not {name!r}")
    if len(name) > LONGEST_NAME or any("\ud800" <= character <= "\udfff" for character in name):
        raise ValueError(f"{what} has at most {LONGEST_NAME} characters, none of them half a character: {name[:40]!a}")


class Stream:
    """A model, and the state of each of many users.

    model: returns `outputs, state` for `model(inputs, state)`, time first, such as `SequenceModel` or a recurrent
    layer. It is used without dropout, and its weights must stay as they are. vocabulary: of a model of texts. scaling:
    of the variables that the model reads; predictions are returned in the unit of the variable `target`. change: the
    model predicts the change from the last value of `target`. features: names of the variables, to give values by name.

    A user's state begins anew by three rules. end: after this character. gap: at a value that arrives more than so many
    seconds after the last one. And whenever the session is another one.

    ValueError for a model that cannot read step by step (see `States`), and for settings that do not fit together.
    """

    def __init__(
        self,
        model: Any,
        *,
        vocabulary: Vocabulary | None = None,
        scaling: Scaling | None = None,
        target: int = 0,
        change: bool = False,
        features: Sequence[str] | None = None,
        end: str | None = None,
        gap: float | None = None,
    ) -> None:
        self.model, self.vocabulary, self.scaling = model, vocabulary, scaling
        self.target, self.change, self.features = target, change, list(features) if features else None
        self.end, self.gap = end, gap
        self.users: dict[str, User] = {}
        self.notes: dict[str, Any] = {}  # a caller's own, saved with the stream
        self._free: list[int] = []  # rows of users that were forgotten
        self._check_settings()
        self.choices: Any = getattr(getattr(model, "embedding", None), "num_embeddings", None)  # None: it reads numbers
        sized: Any = model if hasattr(model, "input_size") else getattr(model, "recurrent", None)
        self.size: Any = len(self.features) if self.features else getattr(sized, "input_size", None)
        if self.choices is None and self.size is None:
            raise ValueError(f"{type(model).__name__} has neither `embedding` nor `input_size`: name its `features`")
        self._check_sizes()
        if self.features and self.size != getattr(sized, "input_size", self.size):
            raise ValueError(f"{len(self.features)} features are named, the model reads {sized.input_size}")
        try:
            with evaluation_of(model):
                self.states = States(model, self.sample())
        except (RuntimeError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the model cannot be called as model(inputs, state), with time first: {error}") from error

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        numbers = f"{self.states.numbers:,} numbers of state each"
        users = f"{len(self):,} user{'s' * (len(self) != 1)}"
        return f"Stream({type(self.model).__name__}, {users}, {numbers})"

    def push(self, arrived: Iterable[Arrived | tuple]) -> list[Tensor]:
        """Return the predictions after each value that arrived: for each of `arrived`, (T, num_outputs).

        arrived: `Arrived`, or tuples like it. One user may come several times, in order. All are checked first:
        ValueError, which names the user and the place, for an unknown character, a number that is not finite or not one
        of the model's, and a time that is missing or runs backwards. FloatingPointError for a prediction that is not
        finite, or a state with nan. After any error, all users are as before.

        Portions of a text are whole characters: one that begins with a combining mark, or ends between "\\r" and "\\n",
        is refused.
        """
        pieces: list[list[Piece]] = []  # of each of `arrived`
        users: dict[str, User] = {}  # as they will be
        free, end = list(self._free), len(self.users) + len(self._free)
        if isinstance(arrived, (str, Mapping)):
            raise ValueError('expected a list, such as [("anna", "I am")]')
        for one in map(checked, arrived):
            user = users.get(one.user) or self.users.get(one.user)
            if user is None:
                user = User(free.pop() if free else end)
                end += user.row == end
            users[one.user], read = self._read(one, user)
            pieces.append(read)
        of_user: dict[str, list[Piece]] = {}
        for piece in (piece for read in pieces for piece in read):
            of_user.setdefault(piece.user, []).append(piece)
        self.states.make_room(end)
        with self._restored(torch.tensor([user.row for user in users.values()], dtype=torch.int64)):
            for turn in zip_longest(*of_user.values()):  # the first piece of each user, then the second
                self._run([piece for piece in turn if piece is not None])
            predictions = [self._predictions(read) for read in pieces]
        self.users |= users
        self._free = free
        return predictions

    def forget(self, user: str) -> None:
        """Remove a user. KeyError for an unknown one."""
        if user not in self.users:
            raise KeyError(f"there is no user {user!r}, among {len(self):,}")
        self._free.append(self.users.pop(user).row)

    def reset(self, user: str) -> None:
        """Let a user's state begin anew at the next value. KeyError for an unknown one."""
        if user not in self.users:
            raise KeyError(f"there is no user {user!r}, among {len(self):,}")
        self.users[user].begins = True

    def save(self, path: str | Path) -> None:
        """Write the model's weights, the settings, and all users with their states to one file.

        The file is replaced as a whole, so that it is never half written.
        """
        save_stream(self, path)

    @classmethod
    def load(cls, path: str | Path, model: Any = None) -> Self:
        """Return the stream that `save` wrote.

        model: needed if it is none of the companion's or torch's, whose settings are in the file. ValueError for a file
        that is cut or changed, or of another kind, version or model.
        """
        return load_stream(cls, path, model)

    # ---- What arrives ----

    def _read(self, one: Arrived, user: User) -> tuple[User, list[Piece]]:
        """Check what arrived from a user, and return the user as it will be, and the pieces to be read."""
        try:
            after = self._after(user, one)
            inputs = self._text(one.values) if self.vocabulary else self._numbers(one.values)
        except (ValueError, TypeError, RuntimeError, OverflowError) as error:
            raise ValueError(f"user {one.user!r}: {error}") from None
        stops = [len(inputs)]
        if self.end and self.vocabulary:
            ends = inputs == self.vocabulary.encode(self.end).to(self.device)
            stops[:0] = (ends.nonzero().flatten() + 1).tolist()
        pieces, begins = [], after.begins
        for start, stop in zip([0, *stops], stops, strict=False):
            if start < stop:
                pieces.append(Piece(one.user, user.row, begins, inputs[start:stop]))
                begins = True
        after.begins = len(stops) > 1 and stops[-2] == len(inputs)  # the last character was an end
        return after, pieces

    def _after(self, user: User, one: Arrived) -> User:
        """Return the user with the new time and session, and `begins` by the rules."""
        begins, time, session = user.begins, one.time, one.session
        if time is None and self.gap is not None:
            raise ValueError(f"has no time, which the rule gap={self.gap} needs")
        if time is not None:
            if not isinstance(time, numbers.Real) or isinstance(time, bool) or not math.isfinite(time):
                raise ValueError(f"time is {time!r}, not a number of seconds")
            time = float(time)
            if user.time is not None and time < user.time:
                raise ValueError(f"time runs backwards, from {user.time} to {time}")
            begins = begins or (self.gap is not None and user.time is not None and time - user.time > self.gap)
        if session is not None:
            check_name("session", session)
            begins = begins or (user.session is not None and session != user.session)
        return User(user.row, begins, user.time if time is None else time, user.session if session is None else session)

    def _text(self, values: Any) -> Tensor:
        """Return the indices of a text, (T)."""
        if not isinstance(values, str) or not values:
            raise ValueError(f"expected a text of at least one character, got {repr(values)[:40]}")
        if unicodedata.category(values[0])[0] == "M":
            raise ValueError("the text begins with a combining mark, which belongs to the character before it")
        if values[-1] == "\r":
            raise ValueError(r"the text ends with \r, perhaps the first half of \r\n: send both together")
        return self.vocabulary.encode(values, strict=True).to(self.device)  # type: ignore[union-attr]

    def _numbers(self, values: Any) -> Tensor:
        """Return indices (T), or scaled numbers (T, features)."""
        if isinstance(values, str):
            raise ValueError(f"expected numbers, got the text {values[:40]!r}")
        if isinstance(values, Mapping):
            values = [self._row(values)]
        elif isinstance(values, Sequence) and values and all(isinstance(value, Mapping) for value in values):
            values = [self._row(value) for value in values]
        try:
            read = torch.as_tensor(values, device=self.device)
            if read.is_floating_point() and not isinstance(values, Tensor):
                read = torch.as_tensor(values, device=self.device, dtype=torch.float64)  # as exact as Python's numbers
        except (ValueError, TypeError, RuntimeError, OverflowError) as error:
            raise ValueError(f"expected numbers ({error})") from None
        if read.dtype == torch.bool or read.is_complex():
            raise ValueError(f"expected numbers, got {read.dtype}")
        if self.choices is not None:
            return self._indices(read)
        shape = tuple(read.shape)
        # one number, or one value of several variables, or several values of one
        if read.dim() < 2 and (self.size == 1 or read.shape == (self.size,)):
            read = read.reshape(-1, self.size)
        if read.dim() != 2 or read.size(-1) != self.size or not len(read):
            raise ValueError(f"expected (T, {self.size}) numbers, got {shape}")
        scaled = self.scaling.there(read.to(self.scaling.mean)) if self.scaling else read
        scaled = scaled.to(self.dtype)
        if wrong := (~scaled.isfinite()).nonzero().tolist():
            step, variable = wrong[0]
            name = self.features[variable] if self.features else f"variable {variable}"
            too = f", too large for {self.dtype}" if math.isfinite(read[step, variable]) else ""
            raise ValueError(f"value {step}, {name}, is {read[step, variable].item()}{too}")
        return scaled

    def _indices(self, read: Tensor) -> Tensor:
        """Return the indices (T), after checking them."""
        if read.is_floating_point() or read.dim() > 1 or not read.numel():
            raise ValueError(f"expected one index or several, got {read.dtype} of shape {tuple(read.shape)}")
        read = read.reshape(-1).long()
        if wrong := read[(read < 0) | (read >= self.choices)].tolist():
            raise ValueError(f"index {wrong[0]} is not one of the model's {self.choices}")
        return read

    def _row(self, values: Mapping) -> list[Any]:
        """Return the values of named features in the model's order."""
        if self.features is None:
            raise ValueError("values have names, but the stream has no `features`")
        if values.keys() != {*self.features}:
            names = ", ".join(map(repr, values))[:200]
            raise ValueError(f"expected the features {', '.join(self.features)}, got {names}")
        return [values[name] for name in self.features]

    # ---- The model ----

    def _run(self, pieces: list[Piece]) -> None:
        """Run the model once for all pieces of one length, and store outputs and states. Users differ."""
        batches: dict[tuple[int, bool], list[Piece]] = {}
        for piece in pieces:
            batches.setdefault((len(piece.inputs), piece.begins), []).append(piece)
        with evaluation_of(self.model):
            for (_, begins), batch in batches.items():
                rows = torch.tensor([piece.row for piece in batch])
                inputs = torch.stack([piece.inputs for piece in batch], dim=1)
                outputs, state = self.model(inputs, None if begins else self.states.take(rows))
                self.states.put(rows, state)
                bad = ~(outputs.isfinite().all(-1).all(0) & self.states.are_numbers(rows).to(outputs.device))
                if bad.any():
                    name = batch[int(bad.nonzero()[0])].user
                    raise FloatingPointError(f"user {name!r}: the prediction or the new state is not a finite number")
                for piece, output in zip(batch, outputs.unbind(1), strict=True):
                    piece.outputs = output

    def _predictions(self, pieces: list[Piece]) -> Tensor:
        """Return the outputs of pieces one after another, in the unit of the target if there is a scaling."""
        outputs = torch.cat([piece.outputs for piece in pieces])
        if self.scaling is None:
            return outputs
        if self.change:
            outputs = outputs + torch.cat([piece.inputs for piece in pieces])[:, self.target, None]
        outputs = self.scaling.back(outputs.to(self.scaling.mean), self.target)
        if not outputs.isfinite().all():
            raise FloatingPointError(f"user {pieces[0].user!r}: the prediction is too large in the unit of the target")
        return outputs

    @contextmanager
    def _restored(self, rows: Tensor) -> Iterator[None]:
        """Put the states of these rows back if an error or an interrupt ends the context."""
        before = [leaf[rows] for leaf in self.states.leaves]
        try:
            yield
        except BaseException:
            for leaf, kept in zip(self.states.leaves, before, strict=True):
                leaf[rows] = kept
            raise

    def sample(self) -> Tensor:
        """Return inputs to try the model on, always the same: (4, 3), or (4, 3, features)."""
        generator = torch.Generator().manual_seed(0)
        if self.choices is not None:
            return torch.randint(self.choices, SAMPLE, generator=generator).to(self.device)
        return torch.randn(*SAMPLE, self.size, generator=generator).to(self.device, self.dtype)

    # ---- The settings ----

    def _check_settings(self) -> None:
        """Raise ValueError for settings that exclude each other."""
        if self.end is not None and (
            self.vocabulary is None or not isinstance(self.end, str) or self.end not in self.vocabulary
        ):
            raise ValueError(f"end={self.end!r} must be a character of the vocabulary")
        if self.gap is not None:
            if not isinstance(self.gap, numbers.Real) or not 0 < self.gap < math.inf:
                raise ValueError(f"gap must be a positive number of seconds, not {self.gap!r}")
            self.gap = float(self.gap)
        if isinstance(self.target, bool) or not isinstance(self.target, int):
            raise ValueError(f"target must be the position of a variable, not {self.target!r}")
        if self.features and len({*self.features}) < len(self.features):
            raise ValueError(f"two features have one name: {', '.join(self.features)}")
        if self.vocabulary is not None and (self.scaling or self.features):
            raise ValueError("a vocabulary reads characters, scaling and features are for numbers: give one of them")
        if self.change and self.scaling is None:
            raise ValueError("change=True needs a scaling, in whose unit the change is added")

    def _check_sizes(self) -> None:
        """Raise ValueError if the vocabulary, or the scaling, is not of the model's size."""
        weight = next(self.model.parameters(), None)
        if weight is None:
            raise ValueError(f"{type(self.model).__name__} has no parameters")
        self.dtype, self.device = weight.dtype, weight.device
        if self.vocabulary is not None and len(self.vocabulary) != self.choices:
            raise ValueError(f"the vocabulary has {len(self.vocabulary)} characters, the model reads {self.choices}")
        if self.scaling is not None:
            if self.choices is not None or len(self.scaling.mean) != self.size:
                reads = f"{self.choices} indices" if self.choices else f"{self.size} variables"
                raise ValueError(f"the scaling is of {len(self.scaling.mean)} variables, the model reads {reads}")
            if not 0 <= self.target < self.size:
                raise ValueError(f"target={self.target} is not one of {self.size} variables")

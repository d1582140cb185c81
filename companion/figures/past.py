"""Figure of attribution: which earlier characters mattered for a network's prediction at a place."""

import copy
from collections.abc import Iterable
from functools import cache
from typing import Any, Self

import torch
from torch import Tensor, nn
from traitlets import Dict, Enum, Int, List, TraitError, Unicode, default, observe, validate

from companion.figures.figure import Loading, script
from companion.learning import influence
from companion.learning.sequence_model import SequenceModel
from companion.learning.small_writers import load_small_writers, path_of
from companion.learning.text import Vocabulary, characters, normalise

# The figure opens at the closing mark of a quotation. Its question: which networks need the opening mark?
TEXTS = {
    "en": "Peg nodded. “That’ll do for today,”",
    "ja": "「あんたも、いつもそう言っていたね」",
    "ko": "“사십 년 만에 처음 듣는 말씀입니다.”",
    "zh": "小满说，“放不下，就要想一想了。”",
}
MAX_LENGTH = 120  # characters

Models = tuple[dict[str, SequenceModel], Vocabulary]  # the models by kind

networks_of = cache(load_small_writers)


class Past(Loading):
    """An RNN, a GRU and an LSTM of equal size that predict a character, and what each earlier character contributes.

    text: 2 to 120 characters of the networks' vocabulary. place: of the predicted character; 1 is the second.
    measure: "gradient", how much the surprise at the place would change with a small change of each embedding vector;
    or "without", how much it changes when the character is removed. kinds: of the networks whose bars are shown.
    A language without networks gets the English ones.
    `Past.of` shows a model of your own.
    """

    _esm = script("past")
    files = {f"{path_of(language).parent.name}/{language}.safetensors": path_of(language) for language in TEXTS}
    text = Unicode().tag(sync=True)
    place = Int(min=1).tag(sync=True)
    measure = Enum(["without", "gradient"], "without").tag(sync=True)
    kinds = List(Unicode()).tag(sync=True)
    networks = Dict(read_only=True).tag(sync=True)  # the results for the first text, which need no weights on the page
    pictured = {"kinds": ["RNN", "GRU", "LSTM"]}
    settings = ("text", "place", "measure", "kinds")

    def __init__(self, language: str = "en", *, _own: Models | None = None, **values: Any) -> None:
        self._own = _own
        super().__init__(language, **values)
        path = path_of(self._text_language)
        file = {} if self._own else {"file": f"{path.parent.name}/{path.name}", "bytes": path.stat().st_size}
        results = self._results(9 if self._own else 3)
        # notebooks sort the keys of a dictionary
        self.set_trait("networks", {"text": self.text, "kinds": [*results], "results": results, **file})
        if self._own:
            self._show_own(f"<Past of {', '.join(self._own[0])}, {len(characters(self.text))} characters>")

    @classmethod
    def of(
        cls, model: Any, text: str, vocabulary: Vocabulary | Iterable[str], place: int | None = None,
        language: str = "en",
    ) -> Self:  # fmt: skip
        """Return the figure for a model of your own and a text, which the page cannot change.

        model: a `SequenceModel`, or a module that applies its `embedding`, `recurrent` and `linear` in this order.
        `recurrent` is a layer of torch or the companion, in one direction. The figure computes with a copy in float64,
        without dropout. vocabulary: that of the model, or a list of its characters. text: 2 to 120 of them. place: of
        the predicted character, from 1; the last if None. language: of the words.

        TypeError for an argument of another type; ValueError for sizes that do not fit, for characters that the
        vocabulary lacks, and for results that are not finite.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, not {type(text).__name__}")
        vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary.of(vocabulary)
        reader = copy_of(model, len(vocabulary))
        last = len(vocabulary.encode(text, strict=True)) - 1
        if not 1 <= last < MAX_LENGTH:
            raise ValueError(f"text must have 2 to {MAX_LENGTH} characters, not {last + 1}")
        if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
            raise TypeError(f"place must be an int or None, not {type(place).__name__}")
        if place is not None and not 1 <= place <= last:
            raise ValueError(f"place must be from 1 to {last}, not {place}: the text has {last + 1} characters")
        own = {type(reader.recurrent).__name__: reader}, vocabulary
        return cls(language, _own=own, text=text, place=last if place is None else place)

    def surprise(self, kind: str) -> float:
        """Return -log p, where p is the network's probability of the character at the place."""
        model, past, target = self._prediction(kind)
        return influence.surprise(model, past[:, None], target).item()

    def gradient(self, kind: str) -> Tensor:
        """Return ‖∂(-log p)/∂x_t‖ for each character before the place: (place), float64."""
        model, past, target = self._prediction(kind)
        return influence.gradients(model, past[:, None], target[None])[:, 0]

    def without(self, kind: str) -> Tensor:
        """Return how much -log p rises without each of the characters before the place: (place), float64."""
        return influence.taken_away(*self._prediction(kind))

    def reach(self, kind: str, share: float = 0.9) -> int:
        """Return how many of the last characters have this share of the sum of the measure."""
        return int(influence.reach(getattr(self, self.measure)(kind), share))

    @property
    def _text_language(self):
        return self.language if self.language in TEXTS else "en"

    @property
    def _models(self):
        """Return the models by kind, and their vocabulary."""
        return self._own or networks_of(self._text_language)

    def _prediction(self, kind):
        """Return the network, the indices before the place, and the index at the place."""
        models, vocabulary = self._models
        if kind not in models:
            raise ValueError(f"kind must be one of {', '.join(models)}, not {kind!r}")
        indices = vocabulary.encode(self.text)
        return models[kind], indices[: self.place], indices[self.place]

    def _results(self, digits):
        """Return kind → the surprise at each place of the text, and both measures; lists, rounded."""
        models, vocabulary = self._models
        results = {}
        for kind, model in models.items():
            measured = influence.at_all_places(model, vocabulary.encode(self.text))
            if not all(values.isfinite().all() for values in measured):
                raise ValueError("the model's results are not finite: its parameters may have NaN or infinity")
            losses, *rows = (values.round(decimals=digits).tolist() for values in measured)
            gradient, without = ([row[: k + 1] for k, row in enumerate(matrix)] for matrix in rows)
            results[kind] = {"loss": losses, "gradient": gradient, "without": without}
        return results

    @default("text")
    def _text(self):
        return TEXTS[self._text_language]

    @default("place")
    def _place(self):
        return len(characters(self.text)) - 1

    @default("kinds")
    def _kinds(self):
        return [*self._models[0]][:1]

    @validate("kinds")
    def _check_kinds(self, proposal):
        models, _ = self._models
        if not set(proposal.value) <= models.keys():
            raise TraitError(f"kinds must be of {', '.join(models)}, not {proposal.value}")
        return proposal.value

    @validate("text")
    def _check_text(self, proposal):
        text = normalise(proposal.value)
        try:
            length = len(self._models[1].encode(text, strict=True))
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        if not 2 <= length <= MAX_LENGTH:
            raise TraitError(f"text has {length} characters; from 2 to {MAX_LENGTH} are allowed")
        if self._own and self.networks and text != self.networks["text"]:
            raise TraitError("text cannot be changed here: make another figure with Past.of")
        return text

    @validate("place")
    def _check_place(self, proposal):
        last = len(characters(self.text)) - 1
        if proposal.value > last:
            raise TraitError(
                f"place must be from 1 to {last}, not {proposal.value}: the text has {last + 1} characters"
            )
        return proposal.value

    @observe("text")
    def _clip_place(self, _):
        self.place = min(self.place, len(characters(self.text)) - 1)


def copy_of(model: Any, vocab_size: int) -> SequenceModel:
    """Return a copy of a model's three parts on the CPU, in float64 and in evaluation mode."""
    try:
        copied: Any = copy.deepcopy(nn.ModuleList([model.embedding, model.recurrent, model.linear]))
        embedding, recurrent, linear = copied.to("cpu", torch.float64)
        rows, features, outputs = embedding.num_embeddings, linear.in_features, linear.out_features
        recurrent.batch_first = False  # the copy's results are the same with time first
        reader = SequenceModel(embedding, recurrent, vocab_size)
    except (AttributeError, TypeError) as error:
        raise TypeError(
            "model must have an embedding, a recurrent layer of torch or the companion, and a linear layer, named "
            f"embedding, recurrent and linear: {error}"
        ) from None
    if not rows == outputs == vocab_size:
        raise ValueError(
            f"the vocabulary has {vocab_size} characters, but the embedding has {rows} rows and the linear layer "
            f"{outputs} outputs"
        )
    if features != reader.linear.in_features:
        raise ValueError(
            f"the recurrent layer has {reader.linear.in_features} features, the linear layer reads {features}"
        )
    reader.linear = linear
    return reader.eval()

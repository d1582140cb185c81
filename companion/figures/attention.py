"""Figure of a trained network that translates a number in words into digits, and its attention weights."""

import copy
import unicodedata
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from traitlets import Bool, Dict, Int, TraitError, Unicode, default, validate

from companion.figures.figure import Loading, script
from companion.layers.attention import MultiheadAttention
from companion.learning.numeral_readers import KINDS, load_reader, path_of
from companion.learning.numerals import LANGUAGES, in_words, split
from companion.learning.search import greedy

# The initial number has zeros: only the network with attention writes it correctly. Two of six and three digits; one
# without zeros; and one that is longer than any in the training data.
EXAMPLES = {language: [zeros, 412007, 305, 987654321, 1234567890] for language, zeros in zip(
    LANGUAGES, (700800009, 600030015, 90000400, 300405006), strict=True
)}  # fmt: skip
MAX_WORDS = 25  # and, with a reader's own layer, the number of rows
MAX_DIGITS = 12

reader_of = cache(load_reader)


class Written(NamedTuple):
    """An output of the network.

    digits: a string. p: probabilities of each digit and of the end, (T). weights: of the attention, (T, S), or None.
    """

    digits: str
    p: Tensor
    weights: Tensor | None


class Attention(Loading):
    """A network that reads numerals of a language, with attention and without.

    text: a number in words, 1 to 25 words of the vocabulary. attention: whether the network with attention is
    shown, or the one that has only the encoder's last state. t: how many rows are shown at most, 1 to 25. word: a
    word whose column is framed, counted from 1; 0 for none. A language without a network gets the English one.
    `Attention.of` shows a layer of your own: its `head`, counted from 1, or 0 for the mean of all heads.
    """

    _esm = script("attention")
    files = {f"readers/{language}.safetensors": path_of(language) for language in LANGUAGES}
    text = Unicode().tag(sync=True)
    attention = Bool(True).tag(sync=True)
    t = Int(1, min=1, max=MAX_WORDS).tag(sync=True)
    word = Int(0, min=0, max=MAX_WORDS).tag(sync=True)
    head = Int(0, min=0).tag(sync=True)
    reader = Dict(read_only=True).tag(sync=True)  # what the page shows before it has the weights, or of an own layer
    pictured = {"t": MAX_WORDS}
    settings = ("text", "attention", "t", "word")

    def __init__(self, language: str = "en", *, _own: dict[str, Any] | None = None, **values: Any) -> None:
        self._own = _own
        super().__init__(language, **values)
        self.set_trait("reader", _own or self._reader())
        if _own:
            self._show_own(f"<Attention of {len(_own['signs'])} queries to {len(_own['words'])} keys>")

    @classmethod
    def of(
        cls, layer: Any, query: Tensor, key: Tensor, read: list[str], written: list[str], value: Tensor | None = None,
        language: str = "en",
    ) -> Self:  # fmt: skip
        """Return the figure for an attention layer of your own: its weights, for each head and their mean.

        layer: an `nn.MultiheadAttention` or `companion.MultiheadAttention` with any number of heads. query: (L, E).
        key: (S, kdim). value: (S, vdim), the keys if None; it does not change the weights. read: S strings, the names
        of the columns. written: L strings, the names of the rows. L and S are from 1 to 25. language: of the figure's
        words. The figure computes with a copy in float64, without dropout.

        TypeError for an argument of another type; ValueError for wrong shapes, for numbers that are not finite, and for
        a layer with `add_bias_kv` or `add_zero_attn`, which adds a key that has no name.
        """
        if not isinstance(layer, (nn.MultiheadAttention, MultiheadAttention)):
            raise TypeError(f"layer must be an nn.MultiheadAttention or the companion's, not {type(layer).__name__}")
        if layer.bias_k is not None or layer.add_zero_attn:
            raise ValueError("layer has add_bias_kv or add_zero_attn: it adds a key that has no name in `read`")
        if value is None and layer.vdim != layer.kdim:
            raise ValueError(f"value is needed: keys have {layer.kdim} features, values {layer.vdim}")
        inputs = {"query": (query, written, "written", layer.embed_dim), "key": (key, read, "read", layer.kdim)}
        inputs["value"] = key if value is None else value, read, "read", layer.vdim
        q, k, v = (checked(name, *rest) for name, rest in inputs.items())
        with torch.no_grad():
            copied = copy.deepcopy(layer).to("cpu", torch.float64).eval()
            copied.batch_first = False
            _, weights = copied(q[:, None], k[:, None], v[:, None], average_attn_weights=False)
        if not weights.isfinite().all():
            raise ValueError("the layer's weights are not finite: its parameters may have NaN or infinity")
        heads = torch.cat([weights[0].mean(0, keepdim=True), weights[0]]).round(decimals=9).tolist()
        own = {"words": list(read), "signs": list(written), "heads": heads, "language": "en", "examples": []}
        return cls(language, _own=own, t=len(written))

    def words_read(self, text: str | None = None) -> list[str]:
        """Return the words of a text, by default the figure's, as the encoder reads them."""
        return split(unicodedata.normalize("NFC", self.text if text is None else text), self._reading)

    def written(self, text: str | None = None, attention: bool | None = None) -> Written:
        """Return the greedy output for a text, by default the figure's: the likeliest sign at each step."""
        kind = KINDS[0] if (self.attention if attention is None else attention) else KINDS[1]
        return write(self._reading, kind, tuple(self.words_read(text)))

    @property
    def _reading(self):
        return self.language if self.language in LANGUAGES else "en"

    def _reader(self):
        """Return file name, size, examples, and the outputs for the examples and the current text."""
        path, texts = (
            path_of(self._reading),
            {example_of(number, self._reading): number for number in EXAMPLES[self._reading]},
        )
        return {
            "file": f"readers/{path.name}", "bytes": path.stat().st_size, "language": self._reading,
            "examples": [[number, text] for text, number in texts.items()],
            "known": [
                {"text": text, "words": self.words_read(text), **{kind: rows(self.written(text,
                kind == KINDS[0])) for kind in KINDS}}
                for text in dict.fromkeys([self.text, *texts])
            ],
        }  # fmt: skip

    @default("text")
    def _text(self):
        return example_of(EXAMPLES[self._reading][0], self._reading)

    @validate("head")
    def _check_head(self, proposal):
        last = len(self._own["heads"]) - 1 if self._own else 0
        if proposal["value"] > last:
            raise TraitError(f"head must be from 0 to {last}, not {proposal['value']}")
        return proposal["value"]

    @validate("text")
    def _check_text(self, proposal):
        text = unicodedata.normalize("NFC", proposal["value"])
        words, (_, task) = self.words_read(text), reader_of(self._reading)
        if not 1 <= len(words) <= MAX_WORDS:
            raise TraitError(f"text must have 1 to {MAX_WORDS} words, not {len(words)}")
        try:
            task.encode(words)
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        return text


def checked(name: str, tensor: Any, names: Any, names_name: str, features: int) -> Tensor:
    """Return an input of a layer on the CPU in float64, if it and the names of its rows are as `Attention.of` says."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, not {type(tensor).__name__}")
    if isinstance(names, str) or not all(isinstance(item, str) for item in names):
        raise TypeError(f"{names_name} must be a list of strings")
    if not 1 <= len(names) <= MAX_WORDS:
        raise ValueError(f"{names_name} must have 1 to {MAX_WORDS} strings, not {len(names)}")
    if tensor.shape != (len(names), features):
        raise ValueError(f"{name} must have the shape {(len(names), features)}, not {tuple(tensor.shape)}")
    if not tensor.isfinite().all():
        raise ValueError(f"{name} must be finite: row {int((~tensor.isfinite()).any(1).nonzero()[0, 0])} is not")
    return tensor.detach().to("cpu", torch.float64)


def example_of(number: int, language: str) -> str:
    """Return a number in words, as a reader types it."""
    return (" " if language == "en" else "").join(in_words(number, language))


@lru_cache(maxsize=100)
def write(language: str, kind: str, words: tuple[str, ...]) -> Written:
    """Return the greedy output for these words, with probabilities and attention weights."""
    model, task = reader_of(language, kind)
    source = task.encode(list(words))[:, None]
    (output,) = greedy(model, source, torch.tensor([len(source)]), MAX_DIGITS)
    return Written(task.decode(output.sequence), torch.tensor(output.p, dtype=torch.float64), output.weights)


def rows(written: Written) -> list[dict[str, Any]]:
    """Return an output as the script takes it: a row for each sign (the end is 0), rounded to five digits."""
    rounded = lambda values: [round(value, 5) for value in values]  # noqa: E731
    return [
        {
            "index": index,
            "p": p,
            **({} if written.weights is None else {"weights": rounded(written.weights[k].tolist())}),
        }
        for k, (index, p) in enumerate(
            zip([*(1 + int(digit) for digit in written.digits), 0], rounded(written.p.tolist()), strict=True)
        )
    ]

"""Figure of a trained language model that continues a text, one character after the other."""

from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from traitlets import Bool, Dict, Int, TraitError, Unicode, default, validate

from companion.figures.figure import Loading, Number, script
from companion.figures.numbers import uniform
from companion.learning.generation import probabilities
from companion.learning.text import characters, normalise
from companion.learning.writer import load_writer, path_of

# As in the chapter of each language: its beginning without the last character, so that the next one is uncertain; and
# the unit that the chapter finds for quotations, with the sign of its value inside them.
BEGINNINGS = {"en": "“What’s that?” said ", "ja": "「それは何だい」と", "ko": "“이게 뭐예요?” ", "zh": "“水开了没有？”"}
UNITS = {"en": 149, "ja": 96, "ko": 37, "zh": 94}
INSIDE = {"en": -1, "ja": -1, "ko": -1, "zh": 1}
# The front page's seed, whose text has quotations, and the number of characters that a page can write without the
# weights. The last word of the front page is complete.
STORED = {"en": (31, 109), "ja": (87, 71), "ko": (39, 82), "zh": (75, 66)}
MOST = {"beginning": 400, "written": 2000}  # characters: a page reads them in less than a second

writer_of = cache(load_writer)


class Writing(Loading):
    """A trained language model, the probabilities of the next character, and the values of one unit.

    beginning: the text that it reads first, 1 to 400 characters. written: the text that it has added, up to 2000.
    temperature: from 0 to 2. seed: of the random numbers, 0 to 99. unit: whose tanh( c_t ) colours the text, from 0 to
    hidden_size - 1. The text has characters of the vocabulary only. A language without a model gets the English one.
    """

    _esm = script("writing")
    files = {f"writers/{language}.safetensors": path_of(language) for language in BEGINNINGS}
    beginning = Unicode().tag(sync=True)
    written = Unicode("").tag(sync=True)
    temperature = Number(1.0, min=0, max=2).tag(sync=True)
    seed = Int(0, min=0, max=99).tag(sync=True)
    unit = Int(0, min=0).tag(sync=True)
    writer = Dict(read_only=True).tag(sync=True)  # what the page shows before it has the weights
    stored = Dict(read_only=True).tag(sync=True)  # what the page can write before
    alive = Bool(read_only=True).tag(sync=True)  # whether it writes by itself
    settings = ("beginning", "written", "temperature", "seed", "unit")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("writer", self._writer())
        self.set_trait("stored", self._stored())

    @property
    def text(self) -> str:
        """The whole text: `beginning` and `written`."""
        return self.beginning + self.written

    def next_characters(self, rows: int = 8) -> list[tuple[str, float]]:
        """Return the likeliest next characters, likeliest first, as pairs (character, probability)."""
        order, p = self._distribution(self._read(self.text)[0])
        return [(self._vocabulary.characters[i], p[k].item()) for k, i in enumerate(order[:rows])]

    def values(self) -> Tensor:
        """Return tanh( c_t ) of the unit after each character of the text: (length), float64."""
        values, state = [], None
        for character in characters(self.text):
            _, state = self._read(character, state)
            values.append(torch.tanh(state[1][0, 0, self.unit]))
        return torch.stack(values)

    def write(self, length: int) -> str:
        """Add `length` characters, drawn with the same random numbers as on the page, and return the whole text."""
        written = characters(self.written)
        room = MOST["written"] - len(written)
        if not 0 <= length <= room:
            raise ValueError(f"length must be from 0 to {room}, the room that is left, not {length}")
        written += [names[k] for names, _, k, _ in self._draw(len(written), length)]
        self.written = "".join(written)
        return self.text

    @classmethod
    def front_page(cls, language: str) -> "Writing":
        """Return the figure of the front page: it writes by itself, and asks no question."""
        figure = cls(language, temperature=0.6, seed=STORED.get(language, STORED["en"])[0])
        figure.set_trait("alive", True)
        figure.set_trait("words", {key: value for key, value in figure.words.items() if key != "question"})
        return figure

    def _stored(self) -> dict[str, Any]:
        """Return what the writer writes next, with the present settings.

        Each step has the eight likeliest characters, and the drawn one if it is another; their probabilities in
        thousandths; and the index of the drawn one. The last step is what comes after the text. `values` are those of
        the unit after each character of the text.
        """
        written, steps, values = "", [], self.values().tolist()[:-1]
        for names, p, drawn, (_, c) in self._draw(0, STORED[self._own][1] + 1):
            rows = [*range(8)] if drawn < 8 else [*range(8), drawn]
            thousandths = [round(1000 * p[k].item()) for k in rows]
            steps.append(["".join(names[k] for k in rows), thousandths, rows.index(drawn)])
            written += names[drawn]
            values.append(torch.tanh(c[0, 0, self.unit]).item())
        settings = {name: getattr(self, name) for name in ("temperature", "seed", "unit")}
        known = {"written": written.removesuffix(names[drawn]), "values": [round(value, 2) for value in values]}
        return settings | known | {"steps": steps}

    @property
    def _own(self):
        return self.language if self.language in BEGINNINGS else "en"

    @property
    def _vocabulary(self):
        return writer_of(self._own)[1]

    def _read(self, text, state=None):
        """Return the logits after a text, (vocab_size), and the state. The unknown character gets -inf."""
        model, vocabulary = writer_of(self._own)
        with torch.no_grad():
            logits, state = model(vocabulary.encode(text, strict=True)[:, None], state)
        logits = logits[-1, 0]
        logits[0] = -torch.inf
        return logits, state

    def _draw(self, start, length):
        """Draw characters, the first one as number `start` of those written after the text.

        Yield for each all characters, likeliest first, their probabilities, the index of the one that is drawn, and
        the state before it.
        """
        logits, state = self._read(self.text)
        for place in range(start, start + length):
            order, p = self._distribution(logits)
            names = [self._vocabulary.characters[i] for i in order]
            # inverse transform sampling
            k = min(int((p.cumsum(0) <= uniform(self.seed, place)).sum()), int(p.count_nonzero()) - 1)
            yield names, p, k, state
            logits, state = self._read(names[k], state)

    def _distribution(self, logits):
        """Return the indices, likeliest first, and their probabilities in that order."""
        order = logits.argsort(descending=True, stable=True)
        return order.tolist(), probabilities(logits, self.temperature)[order]

    def _writer(self):
        """Return what the page shows before it has the weights.

        `characters` are those that can come after the text, likeliest first; `drops` are the differences of their
        logits in ten-thousandths, which take little space, the first one from 0.
        """
        logits, _ = self._read(self.text)
        order, _ = self._distribution(logits)
        ranked = order[:-1]  # without the unknown character, which is last
        path = path_of(self._own)
        return {
            "file": f"writers/{path.name}", "bytes": path.stat().st_size,
            "hidden_size": writer_of(self._own)[0].recurrent.hidden_size,
            "unit": UNITS[self._own], "inside": INSIDE[self._own],
            "text": self.text, "characters": "".join(self._vocabulary.characters[i] for i in ranked),
            "drops": [high - low for high, low in pairwise([0, *((10_000 * logits[ranked]).round().int().tolist())])],
        }  # fmt: skip

    @default("beginning")
    def _beginning(self):
        return BEGINNINGS[self._own]

    @default("unit")
    def _unit(self):
        return UNITS[self._own]

    @validate("beginning", "written")
    def _check_text(self, proposal):
        name, text = proposal["trait"].name, normalise(proposal["value"])
        try:
            length = len(self._vocabulary.encode(text, strict=True))
        except ValueError as error:
            raise TraitError(f"{name}: {error}") from None
        if length > MOST[name]:
            raise TraitError(f"{name} has {length} characters; at most {MOST[name]} are allowed")
        if name == "beginning" and length == 0:
            raise TraitError("beginning is empty: there must be a character to go on from")
        return text

    @validate("unit")
    def _check_unit(self, proposal):
        size = writer_of(self._own)[0].recurrent.hidden_size
        if proposal["value"] >= size:
            raise TraitError(f"unit must be from 0 to {size - 1}, not {proposal['value']}: the writer has {size} units")
        return proposal["value"]

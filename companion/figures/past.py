"""Three small networks read a text. Which of the characters before a place mattered for what each expects there?"""

from functools import cache
from typing import Any

from torch import Tensor
from traitlets import Dict, Enum, Int, TraitError, Unicode, default, observe, validate

from companion.figures.figure import Loading, script
from companion.learning import influence
from companion.learning.small_writers import OURS, load_small_writers, path_of
from companion.learning.text import characters, normalise

# A quotation that has to be closed: the place is that of its closing mark.
TEXTS = {
    "en": "“Have you the staff?” said the old man. “It is in the sand,” said Peg.",
    "ja": "「青いかさを取っておくれ」\n「少し待ってください。帳面を見ますから」とノボルさんは言った。",
    "ko": "“어디로 가나?” 할머니가 물었습니다. “고개를 넘어갑니다.” 그릇 장수가 말했습니다.",
    "zh": "“水到哪里了？”老丁问。“到石头的腰了，坐船要小心。”婆婆说。",
}
PLACES = {language: max(text.rfind(mark) for mark in "”」") for language, text in TEXTS.items()}
MOST = 120  # characters

networks_of = cache(load_small_writers)


class Past(Loading):
    """An RNN, a GRU and an LSTM of equal size read a text, and expect what stands at a place: by which of the
    characters before it?

    text: 2 to 120 characters that the networks know. place: of the character that is expected, from 1, the second, on.
    measure: "gradient", how much the surprise at the place would change with a small change of each embedding vector;
    or "without", how much it changes when the character is taken out. A language without networks gets the English
    ones.
    """

    _esm = script("past")
    files = {f"{path_of(language).parent.name}/{language}.safetensors": path_of(language) for language in TEXTS}
    text = Unicode().tag(sync=True)
    place = Int(min=1).tag(sync=True)
    measure = Enum(["without", "gradient"], "without").tag(sync=True)
    networks = Dict(read_only=True).tag(sync=True)  # what the page knows before it has the weights
    moved = ("text", "place", "measure")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("networks", self._networks())

    def surprise(self, kind: str) -> float:
        """-log p of what stands at the place, p the probability that this network gives it: a float."""
        model, past, target = self._asked(kind)
        return influence.surprise(model, past[:, None], target).item()

    def gradient(self, kind: str) -> Tensor:
        """‖∂(-log p)/∂x_t‖ for each character before the place: (place), float64."""
        model, past, target = self._asked(kind)
        return influence.gradients(model, past[:, None], target[None])[:, 0]

    def without(self, kind: str) -> Tensor:
        """By how much -log p rises when the character is taken out, for each one before the place: (place), float64."""
        return influence.taken_away(*self._asked(kind))

    def reach(self, kind: str, share: float = 0.9) -> int:
        """How many of the last characters have this share of the sum of the measure."""
        return int(influence.reach(getattr(self, self.measure)(kind), share))

    @property
    def _own(self):
        return self.language if self.language in TEXTS else "en"

    def _asked(self, kind):
        """The network, the indices before the place, and the one that stands there."""
        models, vocabulary = networks_of(self._own)
        if kind not in models:
            raise ValueError(f"kind must be one of {', '.join(models)}, not {kind!r}")
        indices = vocabulary.encode(self.text)
        return models[kind], indices[: self.place], indices[self.place]

    def _networks(self):
        """Their file, bytes, kinds, and what they make of the place as it is now."""
        path = path_of(self._own)

        def told(values):
            reaches = [int(influence.reach(values, share)) for share in (0.5, 0.9)]
            return {"values": [round(value, 4) for value in values.tolist()], "reaches": reaches}

        asked = {
            kind: {
                "loss": round(self.surprise(kind), 4),
                "gradient": told(self.gradient(kind)),
                "without": told(self.without(kind)),
            }
            for kind in OURS
        }
        return {
            "file": f"{path.parent.name}/{path.name}", "bytes": path.stat().st_size,
            "text": self.text, "place": self.place, "asked": asked,
        }  # fmt: skip

    @default("text")
    def _text(self):
        return TEXTS[self._own]

    @default("place")
    def _place(self):
        return PLACES[self._own] if self.text == TEXTS[self._own] else len(characters(self.text)) - 1

    @validate("text")
    def _is_known(self, proposal):
        text = normalise(proposal.value)
        try:
            length = len(networks_of(self._own)[1].encode(text, strict=True))
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        if not 2 <= length <= MOST:
            raise TraitError(f"text has {length} characters; from 2 to {MOST} are allowed")
        return text

    @validate("place")
    def _is_there(self, proposal):
        last = len(characters(self.text)) - 1
        if proposal.value > last:
            raise TraitError(
                f"place must be from 1 to {last}, not {proposal.value}: the text has {last + 1} characters"
            )
        return proposal.value

    @observe("text")
    def _stay_inside(self, _):
        self.place = min(self.place, len(characters(self.text)) - 1)

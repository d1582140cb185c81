"""Figure of attribution: which earlier characters mattered for three small networks' prediction at a place."""

from functools import cache
from typing import Any

from torch import Tensor
from traitlets import Dict, Enum, Int, TraitError, Unicode, default, observe, validate

from companion.figures.figure import Loading, script
from companion.learning import influence
from companion.learning.small_writers import OURS, load_small_writers, path_of
from companion.learning.text import characters, normalise

# A quotation that has to be closed; the initial place is that of its closing mark.
TEXTS = {
    "en": "“Have you the staff?” said the old man. “It is in the sand,” said Peg.",
    "ja": "「青いかさを取っておくれ」\n「少し待ってください。帳面を見ますから」とノボルさんは言った。",
    "ko": "“어디로 가나?” 할머니가 물었습니다. “고개를 넘어갑니다.” 그릇 장수가 말했습니다.",
    "zh": "“水到哪里了？”老丁问。“到石头的腰了，坐船要小心。”婆婆说。",
}
PLACES = {language: max(text.rfind(mark) for mark in "”」") for language, text in TEXTS.items()}
MAX_LENGTH = 120  # characters

networks_of = cache(load_small_writers)


class Past(Loading):
    """An RNN, a GRU and an LSTM of equal size that predict a character, and what each earlier character contributes.

    text: 2 to 120 characters of the networks' vocabulary. place: of the predicted character; 1 is the second.
    measure: "gradient", how much the surprise at the place would change with a small change of each embedding vector;
    or "without", how much it changes when the character is removed. A language without networks gets the English ones.
    """

    _esm = script("past")
    files = {f"{path_of(language).parent.name}/{language}.safetensors": path_of(language) for language in TEXTS}
    text = Unicode().tag(sync=True)
    place = Int(min=1).tag(sync=True)
    measure = Enum(["without", "gradient"], "without").tag(sync=True)
    networks = Dict(read_only=True).tag(sync=True)  # what the page shows before it has the weights
    settings = ("text", "place", "measure")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("networks", self._networks())

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
    def _own(self):
        return self.language if self.language in TEXTS else "en"

    def _prediction(self, kind):
        """Return the network, the indices before the place, and the index at the place."""
        models, vocabulary = networks_of(self._own)
        if kind not in models:
            raise ValueError(f"kind must be one of {', '.join(models)}, not {kind!r}")
        indices = vocabulary.encode(self.text)
        return models[kind], indices[: self.place], indices[self.place]

    def _networks(self):
        """Return file name, size, and the networks' results at the current place."""
        path = path_of(self._own)

        def rounded(values):
            reaches = [int(influence.reach(values, share)) for share in (0.5, 0.9)]
            return {"values": [round(value, 4) for value in values.tolist()], "reaches": reaches}

        results = {
            kind: {
                "loss": round(self.surprise(kind), 4),
                "gradient": rounded(self.gradient(kind)),
                "without": rounded(self.without(kind)),
            }
            for kind in OURS
        }
        return {
            "file": f"{path.parent.name}/{path.name}", "bytes": path.stat().st_size,
            "text": self.text, "place": self.place, "asked": results,
        }  # fmt: skip

    @default("text")
    def _text(self):
        return TEXTS[self._own]

    @default("place")
    def _place(self):
        return PLACES[self._own] if self.text == TEXTS[self._own] else len(characters(self.text)) - 1

    @validate("text")
    def _check_text(self, proposal):
        text = normalise(proposal.value)
        try:
            length = len(networks_of(self._own)[1].encode(text, strict=True))
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        if not 2 <= length <= MAX_LENGTH:
            raise TraitError(f"text has {length} characters; from 2 to {MAX_LENGTH} are allowed")
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

"""Text and vocabulary: from a file to indices, and back.

A text is a string in one form (`normalise`). A `Vocabulary` gives each of its characters an index. A character is what
a reader counts as one, whatever its script: `é` and `한` are one, however they were typed, and so is a flag or a letter
with three accents (Unicode Standard Annex 29: extended grapheme clusters).
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Self

import regex
import torch
from torch import Tensor

from companion.extra import notebook_extra
from companion.learning.files import is_there, read_text
from companion.learning.indices import whole

SHIPPED = Path(str(files("companion.learning") / "texts"))
TIME_MACHINE = "https://d2l-data.s3-accelerate.amazonaws.com/timemachine.txt"
TIME_MACHINE_HASH = "sha1:090b5e7e70c295757f55df93cb0a180b9691891a"

# Unicode's replacement character, for every character that is not in the vocabulary.
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def shipped_texts() -> list[str]:
    """Return the names of the texts that come with the package: the languages of the book."""
    return sorted(path.stem for path in SHIPPED.glob("*.txt"))


def load_text(source: str | Path, min_length: int = 1000, encoding: str = "utf-8") -> str:
    """Return a text as one string, in the form that `normalise` makes.

    source: the name of a text that comes with the package ("en", "ja", "ko", "zh"); "time_machine", H. G. Wells's novel
    of 1895, which is downloaded once, checked and stored; or the path of a text file. min_length: the smallest number
    of characters, since a model learns nothing from less. encoding: that of a file without a byte-order mark.

    FileNotFoundError if there is no such name or file, ConnectionError if the download fails,
    ModuleNotFoundError if the package that downloads is not installed (`pip install "unrolled[notebook]"`), ValueError
    for a text that is in another encoding, empty or too short.
    """
    path = source
    if source in (names := shipped_texts()):
        path = SHIPPED / f"{source}.txt"
    elif source == "time_machine":
        path = download(TIME_MACHINE, TIME_MACHINE_HASH, "time_machine.txt")
    elif not is_there(source):
        known = ", ".join(map(repr, [*names, "time_machine"]))
        raise FileNotFoundError(f"{str(source)[:80]!r} is neither a file nor one of the texts {known}")
    text = normalise(read_text(path, encoding))
    if len(text) < min_length:
        raise ValueError(f"{str(source)!r} has {len(text):,} characters; at least {min_length:,} are needed")
    return text


def download(url: str, known_hash: str, name: str) -> Path:
    """Download a file once, with a progress bar, and return its path; its checksum is compared at each use."""
    with notebook_extra():
        import pooch  # imported late: it imports a progress bar that warns where there are no widgets

    pooch.get_logger().setLevel("WARNING")
    folder = pooch.os_cache("unrolled")
    try:
        return Path(pooch.retrieve(url, known_hash, fname=name, path=folder, progressbar=True))
    except OSError as error:  # all of requests' errors are of this kind
        raise ConnectionError(
            f"{name} could not be downloaded ({type(error).__name__}). Without a network, use a text that comes with "
            f"the package, such as load_text('en'). Or download {url} elsewhere, and give load_text its path"
        ) from error
    except ValueError as error:
        raise ConnectionError(
            f"what came from {url} is not {name}: its checksum differs from {known_hash}. Was there a login page of "
            "the network in between? Nothing was kept"
        ) from error


def normalise(text: str) -> str:
    """Return the text with composed characters (NFC) and lines that end with "\\n"."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def characters(text: str) -> list[str]:
    """Return the characters of a text, as a reader counts them."""
    return regex.findall(r"\X", normalise(text))


class Vocabulary:
    """Characters and their indices.

    text: the source of the characters. min_count: rarer characters are left out, and read as `UNKNOWN`, which has index
    0. The others follow in the order of Unicode. `len()` is their number with `UNKNOWN`.
    """

    def __init__(self, text: str, min_count: int = 1) -> None:
        counts = Counter(characters(text))
        counts.pop(UNKNOWN, None)
        self._set([UNKNOWN, *sorted(c for c, count in counts.items() if count >= min_count)])

    @classmethod
    def of(cls, characters: Iterable[str]) -> Self:
        """Return the vocabulary with these characters, in this order: `characters` of another one."""
        vocabulary = cls("")
        vocabulary._set(list(characters))
        return vocabulary

    def _set(self, characters: list[str]) -> None:
        self.characters = characters
        self._indices = {c: i for i, c in enumerate(characters)}

    def __len__(self) -> int:
        return len(self.characters)

    def __contains__(self, character: str) -> bool:
        return normalise(character) in self._indices

    def encode(self, text: str, strict: bool = False) -> Tensor:
        """Return the indices of a text's characters, int64 (length).

        strict: raise ValueError for characters that are not in the vocabulary; without it they get index 0.
        """
        text_characters = characters(text)
        if strict and (missing := [c for c in dict.fromkeys(text_characters) if c not in self._indices]):
            raise ValueError(
                f"not in the vocabulary of {len(self):,} characters: {' '.join(map(repr, missing))}. A model can only "
                "read what occurred in the text that it learned from"
            )
        return torch.tensor([self._indices.get(c, 0) for c in text_characters], dtype=torch.int64)

    def decode(self, indices: Tensor | Sequence[int]) -> str:
        """Return the text of indices, a tensor (length) or a list.

        IndexError for one outside the vocabulary, ValueError for numbers that are not whole.
        """
        indices = whole("indices", indices).flatten().tolist()
        if wrong := [i for i in indices if not 0 <= i < len(self)]:
            raise IndexError(f"index {wrong[0]} is not in the vocabulary, which has 0 to {len(self) - 1}")
        return "".join(self.characters[i] for i in indices)

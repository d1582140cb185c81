"""Numbers in words and in digits, in the book's four languages: a small sequence-to-sequence task.

412007   four hundred and twelve thousand and seven   四十一万二千七   사십일만이천칠   四十一万二千零七
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from companion.learning.indices import check_indices, whole
from companion.learning.training import IGNORED
from companion.learning.windows import generator_of

LANGUAGES = ("en", "ja", "ko", "zh")
DIGITS = "0123456789"
LONGEST = 12  # digits that can be put in words
TRAINED = 9  # digits of the longest number in training

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
THOUSANDS = ("", "thousand", "million", "billion")

# the digits 0 to 9; ten, hundred, thousand; ten thousand and its square
SIGNS = {
    "ja": ("零一二三四五六七八九", "十百千", "万億"),
    "ko": ("영일이삼사오육칠팔구", "십백천", "만억"),
    "zh": ("零一二三四五六七八九", "十百千", "万亿"),
}


def in_words(number: int, language: str) -> list[str]:
    """Return a number as words: in English "four", "hundred", …, in the other languages one sign each.

    number: an int from 0 to 10¹² - 1. ValueError for any other, or a language that is not one of `LANGUAGES`.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, not {language!r}")
    if not 0 <= number < 10**LONGEST:
        raise ValueError(f"numbers from 0 to {10**LONGEST - 1} can be read aloud here, not {number}")
    if number == 0:
        return ["zero"] if language == "en" else [SIGNS[language][0][0]]
    return english(number) if language == "en" else list(by_ten_thousands(number, language))


def english(number: int) -> list[str]:
    """Return the words in groups of three digits, with "and" before a rest below a hundred."""
    words: list[str] = []
    for power in (3, 2, 1, 0):
        group, number = divmod(number, 1000**power)
        hundreds, rest = divmod(group, 100)
        if hundreds:
            words += [SMALL[hundreds], "hundred"]
        if rest and (hundreds or (words and power == 0)):
            words.append("and")
        if rest:
            words += [SMALL[rest]] if rest < 20 else [TENS[rest // 10], *([SMALL[rest % 10]] if rest % 10 else [])]
        if group and power:
            words.append(THOUSANDS[power])
    return words


def by_ten_thousands(number: int, language: str) -> str:
    """Return the signs in groups of four digits.

    Chinese has one zero for any number of zeros between other digits; the other languages have none.
    """
    digits, tens, powers = SIGNS[language]
    signs, gap = "", False
    for place in (2, 1, 0):
        group, number = divmod(number, 10 ** (4 * place))
        for k, digit in enumerate(f"{group:04}"):
            if digit == "0":
                gap = signs != ""
                continue
            if language == "zh" and gap:
                signs += digits[0]
            gap = False
            is_silent = digit == "1" and is_silent_one(language, k, place, group, signs)
            signs += ("" if is_silent else digits[int(digit)]) + ("" if k == 3 else tens[2 - k])
        if group and place:
            signs += powers[place - 1]
        gap = gap and group == 0  # a zero at the end of a group has no sign
    return signs


def is_silent_one(language: str, k: int, place: int, group: int, signs: str) -> bool:
    """Return True if a 1 is not written.

    k: 0 for thousands … 3 for ones of a group of four digits, the group of `place`.
    """
    if language == "zh":  # 十二, but 一百一十二
        return k == 2 and signs == ""
    if language == "ja":  # 千, but 一千万
        return k in (1, 2) or (k == 0 and place == 0)
    return k < 3 or (place == 1 and group == 1)  # 천, 천만, 만, but 일억


class Numerals:
    """Numbers in words, to be written in digits: batches for `companion.learning.training.train`.

    language: one of `LANGUAGES`. longest: the largest number of digits; all lengths up to it are equally frequent.
    batch_size, batches: of an epoch. seed: with the number of an epoch it decides all random numbers. A tenth of the
    numbers of four digits and more is held out, always the same: `epoch` never uses them, `held_out` uses no others.

    words: the source vocabulary; index 0 is padding. signs: the target vocabulary: index 0 ends, 1 to 10 are the
    digits.
    """

    carried = False
    signs = ["", *DIGITS]

    def __init__(
        self, language: str, longest: int = TRAINED, batch_size: int = 64, batches: int = 100, seed: int = 0
    ) -> None:
        if not 1 <= longest <= LONGEST:
            raise ValueError(f"longest must be a number of digits from 1 to {LONGEST}, not {longest}")
        self.language, self.longest = language, longest
        self.batch_size, self.batches, self.seed = batch_size, batches, seed
        self.words = ["", *known_words(language)]
        self.indices = {word: index for index, word in enumerate(self.words)}

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return self.batches

    def epoch(self, number: int) -> Iterator[tuple[Any, Tensor]]:
        """Yield the batches of an epoch, as `batch` makes them."""
        generator = generator_of(self.seed, number)
        for _ in range(self.batches):
            lengths = torch.randint(1, self.longest + 1, (self.batch_size,), generator=generator).tolist()
            yield self.batch([draw(length, generator, held_out=False) for length in lengths])

    def held_out(self, length: int, count: int, seed: int = 0) -> list[int]:
        """Return `count` numbers of `length` digits that no epoch uses; ValueError below four digits."""
        if length < 4:
            raise ValueError(f"numbers of {length} digits are not held out: there are too few of them")
        generator = generator_of(seed, length)
        return [draw(length, generator, held_out=True) for _ in range(count)]

    def batch(self, numbers: Iterable[int]) -> tuple[Any, Tensor]:
        """Return a model's inputs and targets: ((source, lengths, written), targets).

        source: the words' indices (S, B), shorter ones padded with 0; lengths: (B). written: (T, B), the sign written
        before each step, 0 at the first. targets: (T, B), the digits' indices and a final 0; then `IGNORED`.
        """
        sources = [self.encode(in_words(number, self.language)) for number in numbers]
        digits = [torch.tensor([1 + int(digit) for digit in str(number)]) for number in numbers]
        end = torch.zeros(1, dtype=torch.int64)
        written = pad_sequence([torch.cat([end, row]) for row in digits])
        targets = pad_sequence([torch.cat([row, end]) for row in digits], padding_value=IGNORED)
        return (pad_sequence(sources), torch.tensor([len(source) for source in sources]), written), targets

    def encode(self, words: str | list[str]) -> Tensor:
        """Return the indices of words, int64 (S); ValueError for an unknown word.

        words: a list, or a string as one types it.
        """
        words = split(words, self.language) if isinstance(words, str) else words
        unknown = [word for word in words if word not in self.indices]
        if unknown or not words:
            known = " ".join(self.words[1:])
            raise ValueError(f"{unknown[0]!r} is none of the words {known}" if unknown else "there is no word to read")
        return torch.tensor([self.indices[word] for word in words])

    def decode(self, indices: Iterable) -> str:
        """Return the digits of the written signs, up to the end sign, as a string.

        indices: a sequence of numbers from 0 to 10. ValueError for another number before the end.
        """
        written = whole("indices", indices if isinstance(indices, Tensor) else list(indices)).tolist()
        written = written[: written.index(0) if 0 in written else None]
        check_indices("indices", written, len(self.signs))
        return "".join(self.signs[index] for index in written)


class JoinedNumerals(Numerals):
    """The same task as one sequence, as a language model reads it: the words, a 0, the digits, a 0.

    inputs: (T, B), the words as in `Numerals`, then the digits with indices that follow those of the words. targets:
    (T, B), as in `Numerals.batch`, and `IGNORED` while words are read.
    """

    @property
    def vocab_size(self) -> int:
        """Return the number of indices: 0, the words, the digits."""
        return len(self.words) + len(DIGITS)

    def batch(self, numbers: Iterable[int]) -> tuple[Any, Tensor]:
        """Return (inputs, targets): a target follows each input, `IGNORED` at words and padding."""
        inputs, targets = [], []
        for number in numbers:
            words = self.encode(in_words(number, self.language))
            digits = torch.tensor([1 + int(digit) for digit in str(number)])
            end = torch.zeros(1, dtype=torch.int64)
            inputs.append(torch.cat([words, end, digits + len(self.words) - 1]))
            targets.append(torch.cat([torch.full_like(words, IGNORED), digits, end]))
        return pad_sequence(inputs), pad_sequence(targets, padding_value=IGNORED)


def all_right(logits: Tensor, targets: Tensor) -> Tensor:
    """Return bool (B), True for each sequence whose likeliest sign is right at every step.

    logits: (T, B, num_outputs), with teacher forcing. The model then, and only then, writes the same without it, since
    up to its first mistake it reads the same signs.
    """
    return ((logits.argmax(dim=-1) == targets) | (targets == IGNORED)).all(dim=0)


def known_words(language: str) -> list[str]:
    """Return all words in which numbers are written."""
    if language == "en":
        return [*SMALL, *TENS[2:], "hundred", *THOUSANDS[1:], "and"]
    return list("".join(SIGNS[language]))


def split(text: str, language: str) -> list[str]:
    """Return the words of a typed text: in English split at blanks, hyphens and commas, elsewhere sign by sign."""
    if language == "en":
        return re.findall(r"[^\s,-]+", text.lower())
    return [sign for sign in text if not sign.isspace()]


def draw(length: int, generator: torch.Generator, held_out: bool) -> int:
    """Return a random number of `length` digits, with more zeros than by chance: words leave zeros out."""
    while True:
        digits = torch.randint(-2, 10, (length,), generator=generator).clamp(min=0).tolist()
        digits[0] = digits[0] or int(torch.randint(1, 10, (1,), generator=generator))
        number = int("".join(map(str, digits)))
        if is_held_out(number) == held_out:
            return number


def is_held_out(number: int) -> bool:
    """Return True for a tenth of the numbers from 1,000 on, mixed by a large prime."""
    return number >= 1000 and number * 2654435761 // 128 % 10 == 0

"""Tests of numerals: their words in each language, that words are unambiguous, and batches."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from companion.learning.numerals import (
    LANGUAGES,
    LONGEST,
    JoinedNumerals,
    Numerals,
    all_right,
    in_words,
    is_held_out,
    split,
)
from companion.learning.training import IGNORED

# numbers with silent or spoken ones, zeros and "and"
EXAMPLES = {
    "en": {
        0: "zero", 17: "seventeen", 40: "forty", 110: "one hundred and ten", 1001: "one thousand and one",
        412_007: "four hundred and twelve thousand and seven", 1_000_100: "one million one hundred",
        20_000_000_010: "twenty billion and ten", 999_021: "nine hundred and ninety nine thousand and twenty one",
    },
    "ja": {
        0: "零", 11: "十一", 110: "百十", 1_100: "千百", 11_000: "一万千", 412_007: "四十一万二千七",
        10_000_000: "一千万",
        100_010_001: "一億一万一", 11_110_000: "一千百十一万",
    },
    "ko": {
        0: "영", 11: "십일", 110: "백십", 10_000: "만", 11_000: "만천", 412_007: "사십일만이천칠", 10_000_000: "천만",
        100_010_001: "일억만일", 110_000: "십일만",
    },
    "zh": {
        0: "零", 11: "十一", 110: "一百一十", 1_001: "一千零一", 100_010: "十万零一十", 412_007: "四十一万二千零七",
        205_000_007: "二亿零五百万零七", 1_001_001_001: "十亿零一百万一千零一", 100_001_000: "一亿零一千",
    },
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_typical_numbers(language):
    for number, words in EXAMPLES[language].items():
        assert in_words(number, language) == split(words, language), number


def value(words, language):
    """Return the number that words mean, computed differently: a unit multiplies the number before it."""
    from companion.learning import numerals

    if language == "en":
        ones = {word: n for n, word in enumerate(numerals.SMALL)} | {
            word: 10 * n for n, word in enumerate(numerals.TENS)
        }
        units = {"hundred": 100} | {word: 1000**n for n, word in enumerate(numerals.THOUSANDS) if n}
    else:
        digits, tens, powers = numerals.SIGNS[language]
        ones = {sign: n for n, sign in enumerate(digits)}
        units = {sign: 10 ** (1 + n) for n, sign in enumerate(tens)} | {
            sign: 10_000 ** (1 + n) for n, sign in enumerate(powers)
        }
    total = group = number = 0
    for word in words:
        if word == "and":
            continue
        if word in ones:
            number += ones[word]
        elif units[word] >= 1000 and (language == "en" or units[word] >= 10_000):
            total, group, number = total + (group + number or 1) * units[word], 0, 0
        else:
            group, number = group + (number or 1) * units[word], 0
    return total + group + number


@given(st.integers(1, LONGEST).flatmap(lambda n: st.integers(10 ** (n - 1), 10**n - 1)), st.sampled_from(LANGUAGES))
def test_words_mean_the_number(number, language):
    assert value(in_words(number, language), language) == number


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="numbers from 0 to 999999999999 can be read aloud here, not -1"):
        in_words(-1, "en")
    with pytest.raises(ValueError, match="numbers from 0"):
        in_words(10**12, "ja")
    with pytest.raises(ValueError, match="language must be one of en, ja, ko, zh, not 'fr'"):
        in_words(1, "fr")
    task = Numerals("en")
    with pytest.raises(ValueError, match="'elf' is none of the words zero one two"):
        task.encode("twenty elf")
    with pytest.raises(ValueError, match="there is no word to read"):
        task.encode(" - ")
    with pytest.raises(ValueError, match=r"indices\[1\] is -1; only 0 to 10 are allowed"):
        task.decode([3, -1, 0])
    with pytest.raises(ValueError, match="whole numbers"):
        task.decode([1.7, 0])
    with pytest.raises(ValueError, match="longest must be a number of digits from 1 to 12, not 13"):
        Numerals("en", longest=13)
    with pytest.raises(ValueError, match="numbers of 3 digits are not held out"):
        task.held_out(3, 1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_batches(language):
    task = Numerals(language, batch_size=5, batches=3, seed=1)
    batches = [*task.epoch(0)]
    again, other = [*task.epoch(0)], [*task.epoch(1)]
    assert len(batches) == len(task) == 3
    assert torch.equal(batches[2][1], again[2][1]) and not torch.equal(
        batches[0][0][0], other[0][0][0][: len(batches[0][0][0])]
    )
    for (source, lengths, written), targets in batches:
        assert source.shape == (lengths.max(), 5) and written.shape == targets.shape
        for b in range(5):
            number = int(task.decode(targets[:, b].clamp(min=0)))
            assert (
                not is_held_out(number)
                and task.encode(in_words(number, language)).tolist() == source[: lengths[b], b].tolist()
            )
            end = len(str(number))
            assert (
                targets[end, b] == 0
                and (targets[end + 1 :, b] == IGNORED).all()
                and (source[lengths[b] :, b] == 0).all()
            )
            assert written[: end + 1, b].tolist() == [0, *targets[:end, b].tolist()]
    numbers = task.held_out(6, 50)
    assert all(is_held_out(number) and len(str(number)) == 6 for number in numbers)


def test_joined_numerals_are_one_sequence():
    task = JoinedNumerals("en")
    inputs, targets = task.batch([42, 7])
    words = task.encode("forty two").tolist()
    digits = [len(task.words) - 1 + 5, len(task.words) - 1 + 3]
    assert inputs[:, 0].tolist() == [*words, 0, *digits] and max(digits) < task.vocab_size
    assert targets[:, 0].tolist() == [IGNORED, IGNORED, 5, 3, 0]
    assert targets[:, 1].tolist() == [IGNORED, 8, 0, IGNORED, IGNORED]


def test_all_right():
    targets = torch.tensor([[1, 2], [0, 0], [IGNORED, IGNORED]])
    logits = torch.nn.functional.one_hot(torch.tensor([[1, 2], [0, 2], [5, 5]]), 11).double()
    assert all_right(logits, targets).tolist() == [True, False]


def test_typed_text_is_split_into_words():
    assert split(" Twenty-one  thousand, and two\n", "en") == ["twenty", "one", "thousand", "and", "two"]
    assert split("사십일만 이천칠", "ko") == [*"사십일만이천칠"]

"""Test what the chapter on attention says of the weights: which word has the largest one when a digit is written."""

import functools

import pytest

from companion.learning.numeral_readers import load_reader
from companion.learning.numerals import LANGUAGES, SIGNS, TRAINED, in_words
from companion.learning.search import greedy

LENGTHS = range(5, TRAINED + 1)
EACH = 100  # held-out numbers of each length
SPOKEN = {sign: n for digits, *_ in SIGNS.values() for n, sign in enumerate(digits)}


def own_words(number, language):
    """Return the index of each digit's own word, None for a 0. A one that is not spoken has its unit or power."""
    words, digits = in_words(number, language), str(number)
    size = 3 if language == "en" else 4
    groups = (len(digits) - 1) // size
    own, at = [], 0
    for place, group in enumerate(reversed(range(groups + 1))):
        part = digits.zfill(size * (groups + 1))[size * place :][:size]
        found, at = (english_group if language == "en" else signs_group)(part, words, at)
        own += found
        at += bool(int(part) and group)  # "thousand", "万"
    assert at == len(words)
    return own[-len(digits) :]


def english_group(part, words, at):
    """Return the own words of three digits, whose first word is `at`, and where the next word is."""
    own = [None] * 3
    if part[0] != "0":
        own[0], at = at, at + 2
    at += words[at : at + 1] == ["and"]
    rest = int(part[1:])
    if rest >= 10:
        own[1], at = at, at + 1
    if part[2] != "0":
        own[2], at = (at - 1, at) if 10 < rest < 20 else (at, at + 1)
    return own, at


def signs_group(part, words, at):
    """Return the own words of four digits, whose first sign is `at`, and where the next sign is."""
    own = []
    for k, digit in enumerate(part):
        if digit == "0":
            own.append(None)
            continue
        at += words[at] in "零영"
        own.append(at)
        spoken = SPOKEN.get(words[at]) == int(digit)
        at += spoken + (k < 3)
    return own, at


def test_own_words_of_typical_numbers():
    for number, language, expected in (
        (412_007, "en", "four twelve twelve - - seven"),
        (40_117, "en", "forty - one seventeen seventeen"),
        (412_007, "ja", "四 一 二 - - 七"),
        (11_010, "ja", "一 千 - 十 -"),
        (110_000, "ko", "십 일 - - - -"),
        (11_000, "ko", "만 천 - - -"),
        (5_060, "zh", "五 - 六 -"),
        (205_000_007, "zh", "二 - 五 - - - - - 七"),
    ):
        words = in_words(number, language)
        found = ["-" if at is None else words[at] for at in own_words(number, language)]
        assert found == expected.split(), (number, language)


@functools.cache
def largest_weights(language):
    """Return (words, digit, own word, next own word, largest weight) for the digits of numbers written correctly.

    A 0 gets the own word of the digit before it. Words are given by their indices; the end has the index after the
    last word.
    """
    reader, task = load_reader(language)
    looks = []
    for length in LENGTHS:
        several = task.held_out(length, EACH)
        (words, lengths, _), _ = task.batch(several)
        for number, found in zip(several, greedy(reader, words, lengths), strict=True):
            if task.decode(found.sequence) == str(number):
                spoken, own, last = in_words(number, language), own_words(number, language), 0
                for k, look in enumerate(found.weights.argmax(1).tolist()[:-1]):
                    last = last if own[k] is None else own[k]
                    following = next((at for at in own[k + 1 :] if at is not None), len(spoken))
                    looks.append((spoken, str(number)[k], last, following, look))
    return looks


# language → how often the largest weight lies at least on the digit's own word
NEARLY_ALWAYS = {"en": 0.98, "ja": 0.91, "ko": 0.91, "zh": 0.95}
# language → words that are no digit's, and how often at least a 0 has its largest weight on one of them
UNITS = {
    "en": {"hundred", "thousand", "million", "and"},
    "ja": {*"十百千万億"},
    "ko": {*"십백천만억"},
    "zh": {*"十百千万亿零"},
}
MOSTLY = {"en": 0.92, "ja": 0.98, "ko": 0.97, "zh": 0.98}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_largest_weight_lies_on_the_digits_own_word(language):
    found = [look == at for _, digit, at, _, look in largest_weights(language) if digit != "0"]
    assert len(found) > 2500 and sum(found) > NEARLY_ALWAYS[language] * len(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_zero_has_its_largest_weight_on_a_unit(language):
    zeros = [
        (words[look], at < look < following)
        for words, digit, at, following, look in largest_weights(language)
        if digit == "0"
    ]
    assert len(zeros) > 500 and sum(word in UNITS[language] for word, _ in zeros) > MOSTLY[language] * len(zeros)
    if language == "zh":  # its page says more
        assert sum(follows for _, follows in zeros) > 0.98 * len(zeros)
        assert sum(word == "零" for word, _ in zeros) > 0.1 * len(zeros)

"""Word vectors from a file in the text format of word2vec and GloVe, and small ones made by counting.

A file has one word per line, then its numbers, all separated by single blanks; as many numbers in every line. word2vec
writes a first line with two counts, words and numbers; GloVe does not. `python -m companion.learning.vectors` makes the
small file that comes with the package, from the book's English text.
"""

import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor

from companion.learning.files import is_there, read_text
from companion.learning.text import load_text

SHIPPED = Path(str(files("companion.learning") / "texts" / "en.vec"))
# two counts, a word, and no number as text after it
BINARY = re.compile(rb"\d+ \d+\n[^\n ]* (?![-+]?\d+\.?\d*(?:[eE][-+]?\d+)?[ \r\n])")


def load_vectors(
    path: str | Path, words: Iterable[str], dtype: torch.dtype | None = None, encoding: str = "utf-8"
) -> tuple[Tensor, list[str]]:
    """Return the vectors of a vocabulary's words, (len(words), dim), and the words that the file lacks.

    path: a file of vectors. words: strings, in the order of their indices; the rows come in that order, zeros for a
    word that the file lacks. Upper and lower case are different words. The whole file is read into memory. dtype: a
    floating-point type, torch's default if None. encoding: that of a file without a byte-order mark.

    FileNotFoundError if there is no such file. ValueError, with the line, for a file in another encoding or in the
    binary format of word2vec; for a line with a wrong number of values, or a value that is not a finite number or too
    large for `dtype`; for a repeated word; for fewer or more lines than the first one announces, as when a download was
    cut. ValueError if one of `words` is repeated, and for a `dtype` of whole numbers.
    """
    words = list(words)
    index_of = {word: i for i, word in enumerate(words)}
    if len(index_of) < len(words):
        raise ValueError(f"in words {Counter(words).most_common(1)[0][0]!r} comes twice: each word needs one index")
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"dtype must be a floating-point type, such as torch.float32, not {dtype}")
    present, vectors = set(), torch.zeros(0)
    seen: dict[str, int] = {}
    for line, word, values in _lines(path, encoding):
        if word in seen:
            raise ValueError(f"{str(path)!r}, line {line}: {word!r} is already in line {seen[word]}")
        if not seen:
            vectors = torch.zeros(len(words), len(values), dtype=dtype)
        seen[word] = line
        if word in index_of:
            present.add(word)
            vectors[index_of[word]] = vector = torch.tensor(values, dtype=dtype)
            if not vector.isfinite().all():
                largest = max(values, key=abs)
                raise ValueError(f"{str(path)!r}, line {line}: {largest} is too large for {vector.dtype}: give another")
    return vectors, [word for word in words if word not in present]


def _lines(path, encoding):
    """Yield (line number, word, list of values) for each line of a file of vectors."""
    # not splitlines(), which also splits at characters that are words in some files
    try:
        lines = read_text(path, encoding).split("\n")
    except ValueError:
        if is_there(path) and Path(path).is_file():
            with open(path, "rb") as file:
                if BINARY.match(file.read(4096)):
                    raise ValueError(
                        f"{str(path)!r} is in the binary format of word2vec. Store it as text, with gensim:"
                        " save_word2vec_format(…, binary=False)"
                    ) from None
        raise
    if not lines[-1].strip():
        lines.pop()
    head = re.fullmatch(r"(\d+) (\d+)\s*", lines[0])
    count, dim = (int(head[1]), int(head[2])) if head else (len(lines), None)
    first = 2 if head else 1
    if not head and len(lines) > 1 and (dim := _trailing(lines[0])) != _trailing(lines[1]):
        dim = None  # one of both is damaged: the message says which
    for number, line in enumerate(lines[first - 1 :], first):
        parts = line.rstrip(" \r").split(" ")
        dim = dim or len(parts) - 1
        values = [_value(part) for part in parts[1:]]
        # a word may contain blanks, as some of GloVe's do: the word is all before the last `dim` values
        inside = values[: max(0, len(values) - dim)]
        where = f"{str(path)!r}, line {number}"
        if dim < 1:
            raise ValueError(
                f"{where}: 0 values after {parts[0][:40]!r}. Separate them by single blanks, not tabs or commas"
            )
        wrong = len(values) < dim or any(value is not None for value in inside)
        if ("\t" in line or "" in parts[1:]) and (wrong or None in values[-dim:]):
            raise ValueError(f"{where} has tabs or double blanks: separate the word and the numbers by single blanks")
        if number == first and re.fullmatch('".+"', parts[0]):
            raise ValueError(f"{where}: {parts[0]!r} is in quotes: write words without them (in R with quote=FALSE)")
        if wrong:
            last = ". It is the last line: is the file cut off?" if number == len(lines) else ""
            raise ValueError(f"{where}: {len(values)} values after {parts[0]!r}, where {dim} are expected{last}")
        values = values[len(inside) :]
        for part, value in zip(parts[-dim:], values, strict=True):
            if value is None or not math.isfinite(value):
                raise ValueError(f"{where}: {part!r} is no finite number")
        yield number, " ".join(parts[: len(parts) - dim]), values
    if len(lines) - first + 1 != count:
        raise ValueError(
            f"{str(path)!r}: line 1 announces {count:,} words, {len(lines) - first + 1:,} follow. Is the file cut off?"
        )


def _trailing(line):
    """Return how many of the parts at the end of a line are numbers, without the first part: None for none."""
    values = [_value(part) for part in line.rstrip(" \r").split(" ")[1:]]
    return next((k for k, value in enumerate(reversed(values)) if value is None), len(values)) or None


def _value(text):
    """Return the number that a text represents, or None."""
    try:
        return None if "_" in text else float(text)  # Python would read 1_000
    except ValueError:
        return None


def words_of(text: str) -> list[str]:
    """Return the words of an English text in lower case, in order: letters, and apostrophes inside."""
    return re.findall(r"[a-z]+(?:’[a-z]+)*", text.lower())


def count_vectors(words: Sequence[str], dim: int = 16, min_count: int = 5, reach: int = 4) -> dict[str, Tensor]:
    """Return vectors made by counting which words are near one another: {word: tensor (dim)}, most frequent first.

    words: those of a text. min_count: how often a word must occur. reach: the largest distance that counts as near.
    Counts become positive pointwise mutual information, log p(v, w) / ( p(v) p(w) ) where that is above 0, and the
    matrix is factorised into singular vectors (Levy and Goldberg 2014, Neural word embedding as implicit matrix
    factorization).
    """
    counts = Counter(words)
    kept = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    index_of = {word: i for i, word in enumerate(kept)}
    if len(kept) < dim:
        raise ValueError(f"{len(kept)} words occur {min_count} times or more; vectors of {dim} numbers need as many")
    places = [index_of.get(word, -1) for word in words]
    near = torch.zeros(len(kept), len(kept), dtype=torch.float64)
    for k, v in enumerate(places):
        for w in places[k + 1 : k + 1 + reach]:
            if v >= 0 and w >= 0:
                near[v, w] += 1
                near[w, v] += 1
    p = near / near.sum()
    each = p.sum(0)
    # M = max( 0, log p(v, w) / ( p(v) p(w) ) )
    M = (p / (each[:, None] * each)).log().nan_to_num(neginf=0.0).clamp(min=0)
    # M = U Σ Vᵀ,  and a word's vector is its row of U √Σ
    U, S, _ = torch.linalg.svd(M)
    vectors = U[:, :dim] * S[:dim].sqrt()
    # the sign of each column is arbitrary: make its largest number positive
    signs = vectors.gather(0, vectors.abs().argmax(0)[None]).sign()
    return dict(zip(kept, vectors * signs, strict=True))


def write_vectors(path: str | Path, vectors: Mapping[str, Tensor]) -> None:
    """Write {word: tensor (dim)} in word2vec's text format, with three digits after the point."""
    dim = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {dim}"] + [
        " ".join([word, *(f"{v:.3f}" for v in vector.tolist())]) for word, vector in vectors.items()
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_vectors(sys.argv[1] if len(sys.argv) > 1 else SHIPPED, count_vectors(words_of(load_text("en"))))

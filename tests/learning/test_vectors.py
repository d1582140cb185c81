"""Tests of files of word vectors: order of the rows, errors with the line, and reproduction of the shipped file."""

import pytest
import torch

from companion.learning.text import load_text
from companion.learning.vectors import SHIPPED, count_vectors, load_vectors, words_of, write_vectors


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def written(text):
        path = tmp_path / "some.vec"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.mark.parametrize("head", ["", "3 2\n"])
@pytest.mark.parametrize("ending", ["\n", "", " \n", "\r\n"])
def test_rows_are_in_the_order_of_the_vocabulary(file, head, ending):
    """Check files with and without a first line, with blanks at line ends, and with the line ends of other systems."""
    lines = ["a 1 2", "b -3 4e-1", "été 5 6"]
    text = head + (ending or "\n").join(lines) + ending
    vectors, missing = load_vectors(file(text), ["été", "none", "b"], torch.float64)
    assert vectors.tolist() == [[5, 6], [0, 0], [-3, 0.4]] and missing == ["none"]


def test_words_may_contain_blanks_or_be_numbers_or_control_characters(file):
    vectors, missing = load_vectors(file("7 3 4\n. . . 1 2\n\x85 5 6\n\u2028 7 8\n"), [". . .", "7", "\x85", "\u2028"])
    assert vectors.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]] and not missing
    assert load_vectors(file(". . . 1 2\n7 3 4\n"), [". . .", "7"])[0].tolist() == [[1, 2], [3, 4]]


def test_numbers_that_a_type_cannot_represent_are_refused(file):
    path = file("a 1 2\nb 65504 -1e5\n")
    assert load_vectors(path, ["a"], torch.float16)[0].tolist() == [[1, 2]]
    for dtype, message in (
        (torch.float16, "line 2: -100000.0 is too large for torch.float16"),
        (torch.int64, "a floating"),
    ):
        with pytest.raises(ValueError, match=message):
            load_vectors(path, ["b"], dtype)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a 1 2\nb 3\n",
            r"line 2: 1 values after 'b', where 2 are expected. It is the last line: is the file cut off\?",
        ),
        ("a 1 2\nb 3\nc 4 5\n", r"line 2: 1 values after 'b', where 2 are expected$"),
        ("a 1 2\nb 3 4 5\n", "line 2: 3 values after 'b', where 2"),
        ("a 1 2\n\nb 3 4\n", "line 2: 0 values after ''"),
        ("a\nb\n", "line 1: 0 values after 'a'"),
        ("a 1 2\nb 3 x\n", "line 2: 'x' is no finite number"),
        ("a 1 2\nb 3 nan\n", "line 2: 'nan' is no finite number"),
        ("a 1 2\nb 3 4\na 5 6\n", "line 3: 'a' is already in line 1"),
        ("3 2\na 1 2\nb 3 4\n", r"line 1 announces 3 words, 2 follow. Is the file cut off\?"),
        ("1 2\na 1 2\nb 3 4\n", "line 1 announces 1 words, 2 follow"),
        ("1 3\na 1 2\n", "line 2: 2 values after 'a', where 3"),
        ("5 2\n", "line 1 announces 5 words, 0 follow"),
        ("a 1 2\né 3 4\n".encode("latin-1"), "line 2, byte 6"),
        ("", "is empty"),
    ],
)
def test_damaged_files_are_refused_with_the_line(file, text, message):
    with pytest.raises(ValueError, match=message):
        load_vectors(file(text), ["a"])


def test_missing_files_and_repeated_words_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_vectors(tmp_path / "none.vec", ["a"])
    with pytest.raises(ValueError, match="in words 'b' comes twice"):
        load_vectors(SHIPPED, ["a", "b", "b"])


def test_shipped_file_is_reproducible(tmp_path):
    made = count_vectors(words_of(load_text("en")))
    write_vectors(tmp_path / "made.vec", made)
    stored, missing = load_vectors(SHIPPED, made)
    again, _ = load_vectors(tmp_path / "made.vec", made)
    assert not missing and torch.equal(stored[:, 0].sign(), again[:, 0].sign())
    # similarities, since singular vectors of nearly equal values may differ between machines
    torch.testing.assert_close(stored @ stored.T, again @ again.T, rtol=0, atol=0.05)


def test_words_in_the_same_contexts_have_similar_vectors():
    words = "the red cat sat the blue cat sat a red dog ran a blue dog ran".split() * 5
    vectors = count_vectors(words, dim=3, reach=1)
    near = torch.cosine_similarity(vectors["red"], vectors["blue"], dim=0)
    assert near > 0.9 > torch.cosine_similarity(vectors["red"], vectors["ran"], dim=0)
    with pytest.raises(ValueError, match="8 words occur 5 times or more; vectors of 16"):
        count_vectors(words)

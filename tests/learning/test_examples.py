"""Tests of labelled examples: files and their errors, groups that stay together, complete batches."""

import pytest
import torch
from torch.utils.data import DataLoader

from companion.learning.examples import SHIPPED, ByLength, collate, hold_out, load_examples, pairs
from companion.learning.text import Vocabulary


def test_shipped_names_are_those_of_babel(monkeypatch):
    from importlib.metadata import version

    from tests.project.paths import ROOT

    if version("babel") not in (SHIPPED / "README.md").read_text(encoding="utf-8"):
        pytest.skip("another babel has other names")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import names_of_countries

    assert (SHIPPED / "countries.tsv").read_text(encoding="utf-8").splitlines() == [*names_of_countries.lines()]


def test_files_are_read(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_bytes("\ufeff Peru\tes\r\n\r\nC\u030cad\tcs \r\n".encode())
    assert load_examples(path) == [("Peru", "es", "Peru"), ("\u010cad", "cs", "\u010cad")]
    path.write_text("Peru\tes\tPE\nPeru\tfi\tPE\n", encoding="utf-8")
    assert [example.group for example in load_examples(str(path))] == ["PE", "PE"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"Peru\tes\nTonga,en\n", "line 2: no tab in 'Tonga,en'"),
        (b"Peru\tes\tPE\n\nTonga\ten", "line 3: 2 columns, where the lines before have 3. Is the file cut off"),
        (b"Peru\tes\tPE\t1\n", "line 1: 4 columns"),
        (b"Peru\tes\n\tcs\n", "line 2: column 1 is empty"),
        (b"Peru\tes\nTonga\t\n", "line 2: column 2 is empty"),
        (b"Peru\tes\nChile\tes\n", "only one label, 'es'"),
        (b"Peru\tes\n\xc8ad\tcs\n", r"not a text in UTF-8 \(line 2"),
        (b"\n", "is empty"),
    ],
)
def test_damaged_files_are_refused_with_the_line(tmp_path, raw, message):
    path = tmp_path / "mine.tsv"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=message) as error:
        load_examples(path)
    assert "mine.tsv" in str(error.value)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_examples(tmp_path / "other.tsv")


def test_each_group_is_held_out_once_and_never_divided():
    examples = load_examples("countries")
    unseen = []
    for fold in range(5):
        learned_from, held_out = hold_out(examples, fold)
        groups = [{example.group for example in part} for part in (learned_from, held_out)]
        assert not groups[0] & groups[1] and len(learned_from) + len(held_out) == len(examples)
        unseen += held_out
    assert sorted(unseen) == sorted(examples)
    for wrong in ((5, 5), (-1, 5), (0, 1)):
        with pytest.raises(ValueError, match="fold must be"):
            hold_out(examples, *wrong)
    with pytest.raises(ValueError, match="1 groups cannot be dealt out to 2"):
        hold_out(examples[:1], 0, 2)


def test_batches_contain_every_example_once_with_little_padding():
    examples = load_examples("countries")[:1000]
    labels = sorted({example.label for example in examples})
    data = pairs(examples, Vocabulary("".join(example.text for example in examples)).encode, labels)
    batches = DataLoader(data, batch_sampler=ByLength(data, 32, 512, seed=1), collate_fn=collate)
    first, second = list(batches), list(batches)
    assert len(first) == len(batches) == 16 + 16
    sequences = [
        (indices[:length, b].tolist(), target.item())
        for indices, lengths, targets in first
        for b, (length, target) in enumerate(zip(lengths, targets, strict=True))
    ]
    assert sorted(sequences) == sorted((indices.tolist(), label) for indices, label in data)
    assert sum(lengths.sum() for _, lengths, _ in first) > 0.85 * sum(indices.numel() for indices, _, _ in first)
    assert [b[1].tolist() for b in first] != [b[1].tolist() for b in second]
    assert all(
        (indices[length:, b] == 0).all() for indices, lengths, _ in first[:3] for b, length in enumerate(lengths)
    )
    with pytest.raises(ValueError, match="pool at least that, not 32 and 31"):
        ByLength(data, 32, 31)


def test_examples_that_cannot_be_encoded_are_refused():
    peru, chile = load_examples("countries")[:2]
    with pytest.raises(ValueError, match="is not among the 1 labels"):
        pairs([peru], lambda text: torch.ones(3), ["xx"])
    with pytest.raises(ValueError, match="at least one element"):
        pairs([peru, chile], lambda text: torch.ones(0), ["cs"])

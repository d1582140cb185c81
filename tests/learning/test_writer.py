"""Tests of the pretrained writers: their size, their training text, and the text that they generate."""

import json
import re

import pytest
import torch
from safetensors import safe_open

from companion.learning import writer
from companion.learning.generation import generate
from companion.learning.text import Vocabulary, load_text, shipped_texts
from companion.learning.training import evaluate, perplexity
from companion.learning.windows import ConsecutiveWindows, split

each = pytest.mark.parametrize("language", shipped_texts())


@each
def test_stored_writer_was_trained_on_the_current_text(language):
    text = load_text(language)
    path = writer.SHIPPED / f"{language}.safetensors"
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata["text"] == writer.fingerprint(text), f"run: python -m companion.learning.writer {language}"
    assert json.loads(metadata["characters"]) == Vocabulary(text).characters
    assert path.stat().st_size < 300_000


@each
def test_perplexity_is_a_quarter_of_that_of_counted_characters(language):
    model, vocabulary = writer.load_writer(language)
    _, held_out = split(vocabulary.encode(load_text(language)))
    loss = evaluate(model, ConsecutiveWindows(held_out, 8, 100))
    p = torch.bincount(held_out).double() / len(held_out)  # counted on the held-out text itself
    count = -(p[p > 0] * p[p > 0].log()).sum().item()
    assert perplexity(loss) < perplexity(count) / 4


@each
def test_writer_generates_words_of_its_language(language):
    """Check that most generated pairs of characters, and most words, occur in the text."""
    model, vocabulary = writer.load_writer(language)
    text = load_text(language)
    options = {"temperature": 0.6, "generator": torch.Generator().manual_seed(0)}
    written = generate(model, vocabulary, text[:3], 300, **options)
    pairs = [written[k : k + 2] in text for k in range(len(written) - 1)]
    assert sum(pairs) / len(pairs) > 0.9
    if " " in text:  # languages with blanks: compare whole words, too
        words = {word.strip(".,?!“”’…") for word in text.split()}
        own = [word.strip(".,?!“”’…") for word in written.split()][1:-1]
        assert sum(word in words for word in own) / len(own) > 0.7


@pytest.mark.parametrize("vocab_size", [20, 54, 614, 1500])
def test_hidden_size_is_the_largest_within_the_weight_limit(vocab_size):
    def weights(size):
        layer = torch.nn.LSTM(writer.EMBEDDING_DIM, size)
        table, linear = vocab_size * writer.EMBEDDING_DIM, vocab_size * (size + 1)
        return table + sum(p.numel() for p in layer.parameters()) + linear

    size = writer.hidden_size(vocab_size)
    assert sum(p.numel() for p in writer.new_writer(vocab_size).parameters()) == weights(size)
    assert weights(size) <= writer.MOST_WEIGHTS < weights(size + 8)


def test_unknown_writer_raises_file_not_found():
    with pytest.raises(FileNotFoundError, match="no writer for 'xx', only for 'en'"):
        writer.load_writer("xx")


def test_command_stores_a_writer_that_can_be_loaded(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(writer, "EPOCHS", 1)
    monkeypatch.setattr(writer, "SHIPPED", tmp_path)
    monkeypatch.setattr("sys.argv", ["writer", "zh"])
    writer.main()
    assert re.match(r"zh: perplexity \d+\.\d, on what is held out \d+\.\d; \d+ kB\n$", capsys.readouterr().out)
    model, vocabulary = writer.load_writer("zh")
    _, held_out = split(vocabulary.encode(load_text("zh")))
    assert perplexity(evaluate(model, ConsecutiveWindows(held_out, 1, 500))) < len(vocabulary) / 4

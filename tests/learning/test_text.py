"""Tests of texts and vocabularies: independent of how a text was typed, and decoded as it was encoded."""

import hashlib
import re
import unicodedata
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.learning import text as module
from companion.learning.text import UNKNOWN, Vocabulary, characters, load_text, normalise, shipped_texts
from tests.layers.torch_comparison import examples

LANGUAGES = {"en": 20_000, "ja": 10_000, "ko": 10_000, "zh": 10_000}
PAIRS = ["“”", "「」", "『』", "（）", "《》", "()"]
# Single characters for a reader, as the code points that a keyboard may send.
ONE = {
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "three accents": "q\u0301\u0323\u0304",
    "Hangul": "\ud55c",
    "Hangul jamo": "\u1112\u1161\u11ab",
    "old Hangul jamo": "\u115f\u1161",
    "kana with a mark": "\u304b\u3099",
    "flag": "\U0001f1ef\U0001f1f5",
    "family": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "skin": "\U0001f44d\U0001f3fd",
    "keycap": "1\ufe0f\u20e3",
    "variant of a Chinese character": "\u845b\U000e0100",
    "Devanagari": "\u0928\u093f",
    "line end": "\r\n",
    "byte-order mark": "\ufeff",
    "unknown": UNKNOWN,
}
# any code points, often combining ones
texts = st.text() | st.lists(st.sampled_from([*"".join(ONE.values()), "a", "\r"]) | st.characters()).map("".join)


@pytest.mark.parametrize(("name", "length"), LANGUAGES.items())
def test_shipped_text(name, length):
    text = load_text(name)
    assert name in shipped_texts() and len(text) >= length
    assert (module.SHIPPED / f"{name}.txt").read_bytes() == text.encode()  # stored in normalised form
    marks = "".join(re.findall("[{}]".format(re.escape("".join(PAIRS))), text))
    while (fewer := re.sub("|".join(map(re.escape, PAIRS)), "", marks)) != marks:
        marks = fewer
    assert marks == "" and all(line.count('"') % 2 == 0 for line in text.splitlines())


@pytest.mark.parametrize(
    "raw",
    [
        "é\n한\n\n".encode(),
        "é\n한\n\n".encode("utf-8-sig"),
        "é\r\n한\r\r\n".encode(),
        unicodedata.normalize("NFD", "é\n한\n\n").encode(),
        "é\n한\n\n".encode("utf-16"),
    ],
    ids=["as it is", "byte-order mark", "line ends of Windows and old Macs", "decomposed", "UTF-16"],
)
def test_files_are_read_in_every_form(tmp_path, raw):
    path = tmp_path / "a text"
    path.write_bytes(raw)
    for source in (path, str(path)):
        assert load_text(source, min_length=5) == "é\n한\n\n"
    with pytest.raises(ValueError, match="a text' has 5 characters; at least 1,000 are needed"):
        load_text(path)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"abc", "has 3 characters; at least 4 are needed"),
        (b"ab\xe9d", r"is not a text in UTF-8 \(line 1, byte 2 cannot be read\)"),
        ("한국어".encode("utf-16")[:-1], "is not a text in UTF-16"),
    ],
)
def test_files_that_are_not_text_are_refused(tmp_path, raw, words):
    path = tmp_path / "bad"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=f"bad' {words}"):
        load_text(path, min_length=4)


def test_unknown_texts_and_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give the path of one text file in it"):
        load_text(tmp_path)
    for source in ("xx", tmp_path / "xx", "en.txt"):
        with pytest.raises(FileNotFoundError, match="neither a file nor one of the texts .*'time_machine'$") as error:
            load_text(source)
        assert all(repr(name) in str(error.value) for name in shipped_texts())


@pytest.fixture
def host(monkeypatch, tmp_path):
    """Start a web server that replaces the novel's."""
    book = "The Time Traveller (for so it will be convenient to speak of him)\r\n" * 20

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            host.asked += 1
            self.send_response(host.status)
            self.send_header("Content-Length", str(len(host.body)))
            self.end_headers()
            self.wfile.write(host.body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as host:
        host.asked, host.status, host.body, host.cache = 0, 200, book.encode(), tmp_path / "cache"
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setattr(module, "TIME_MACHINE", f"http://127.0.0.1:{host.server_port}/novel")
        monkeypatch.setattr(module, "TIME_MACHINE_HASH", "sha1:" + hashlib.sha1(host.body).hexdigest())
        monkeypatch.setattr("pooch.os_cache", lambda name: host.cache)
        thread = Thread(target=host.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield host
        host.shutdown()
        thread.join()


def test_novel_is_downloaded_once(host):
    expected = host.body.decode().replace("\r\n", "\n")
    assert load_text("time_machine") == expected and host.asked == 1
    host.status = 500
    assert load_text("time_machine") == expected and host.asked == 1
    (file,) = host.cache.iterdir()
    file.write_bytes(b"damaged")
    with pytest.raises(ConnectionError):
        load_text("time_machine")
    host.status = 200
    assert load_text("time_machine") == expected


@pytest.mark.parametrize("failure", ["a login page", "not there", "no network"])
def test_failed_download_raises_connection_error(host, monkeypatch, failure):
    message = r"could not be downloaded \(\w+Error\)\. Without a network.*load_text\('en'\).*give load_text its path"
    if failure == "a login page":
        host.body, message = b"<html>" * 300, "its checksum differs from sha1:.* Nothing was kept"
    elif failure == "not there":
        host.status = 404
    else:
        monkeypatch.setattr(module, "TIME_MACHINE", "http://127.0.0.1:1/novel")
    with pytest.raises(ConnectionError, match=message):
        load_text("time_machine")
    assert not host.cache.exists() or not [*host.cache.iterdir()]


@pytest.mark.parametrize("text", ONE.values(), ids=ONE)
def test_grapheme_clusters_are_one_character(text):
    assert characters(text) == [normalise(text)]
    assert len(characters(text * 3)) == 3 and characters(f"a{text}b") == ["a", normalise(text), "b"]


@settings(max_examples=examples(300))
@given(texts, st.sampled_from(["NFC", "NFD"]))
def test_decoding_returns_the_normalised_text(text, form):
    vocabulary, read = Vocabulary(text), characters(text)
    indices = vocabulary.encode(unicodedata.normalize(form, text), strict=True)
    assert indices.dtype == torch.int64 and indices.shape == (len(read),)
    assert vocabulary.decode(indices) == vocabulary.decode(indices.tolist()) == "".join(read) == normalise(text)
    assert normalise(normalise(text)) == normalise(text) and "\r" not in normalise(text)
    assert vocabulary.characters == [UNKNOWN, *sorted({*read} - {UNKNOWN})]
    assert Vocabulary(unicodedata.normalize(form, text)).characters == vocabulary.characters
    assert len(vocabulary) == len(vocabulary.characters) and all(c in vocabulary for c in read)
    assert all(vocabulary.characters[i] == c for i, c in zip(indices, read, strict=True))
    copy = Vocabulary.of(vocabulary.characters)
    assert copy.characters == vocabulary.characters and copy.encode(text).equal(indices)


@settings(max_examples=examples(100))
@given(texts, texts, st.integers(1, 4))
def test_rare_and_new_characters_are_unknown(text, other, min_count):
    vocabulary, counts = Vocabulary(text, min_count), Counter(characters(text))
    read = characters(text) + characters(other)
    expected = [c if counts[c] >= min_count else UNKNOWN for c in read]
    decoded = [vocabulary.decode(vocabulary.encode(c)) for c in read]
    assert decoded == expected
    assert [c in vocabulary for c in read] == [c == k for c, k in zip(read, expected, strict=True)]


def test_characters_that_look_different_stay_different():
    vocabulary = Vocabulary("\u00e9\u304c\u2460\uff21")
    assert "e\u0301" in vocabulary and "\u304b\u3099" in vocabulary and vocabulary.encode("1A").tolist() == [0, 0]


def test_unknown_characters_are_named_once():
    vocabulary = Vocabulary("abc" * 500)
    assert vocabulary.encode("xay").tolist() == [0, 1, 0] and vocabulary.decode([0, 1]) == UNKNOWN + "a"
    with pytest.raises(ValueError, match="not in the vocabulary of 4 characters: 'x' 'y' '\U0001f1ef\U0001f1f5'. A "):
        vocabulary.encode("xaybx\U0001f1ef\U0001f1f5", strict=True)


@pytest.mark.parametrize("indices", [[-1], [4], [0, 1, 4], torch.tensor([2, -1])])
def test_indices_outside_the_vocabulary_are_refused(indices):
    with pytest.raises(IndexError, match="index (-1|4) is not in the vocabulary, which has 0 to 3"):
        Vocabulary("abc").decode(indices)


@pytest.mark.parametrize("indices", [[1.7], [1, 2.0], torch.tensor([1.0]), torch.tensor([True])])
def test_indices_that_are_not_whole_are_refused(indices):
    with pytest.raises(ValueError, match=r"indices must be whole numbers \(int64\), not torch"):
        Vocabulary("abc").decode(indices)
    assert Vocabulary("abc").decode([]) == ""

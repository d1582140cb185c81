"""Test the program that answers lines: bad lines, signals, and kills at fifty moments."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.series import Scaling
from companion.learning.stream import Stream
from companion.learning.stream.__main__ import locked, run
from companion.learning.text import Vocabulary
from tests.project.paths import ROOT

# Runs the program in a fork for each line that it reads, so that torch is imported once.
SERVER = """
import json, os, sys
import torch
from companion.learning.stream.__main__ import main
torch.set_num_threads(1)
for line in sys.stdin:
    arguments, *files = json.loads(line)
    if not (child := os.fork()):
        for number, (name, flags) in enumerate(zip(files, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY))):
            os.dup2(os.open(name, flags | (number and os.O_CREAT)), number)
        main(arguments)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
PYTHON = {"cwd": ROOT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def pumps(path):
    """Write the file of a stream of two variables, and return the stream."""
    torch.manual_seed(0)
    model = SequenceModel(nn.Identity(), companion.LSTM(2, 4, dtype=torch.float64), 1)
    scaling = Scaling(torch.randn(20, 2, dtype=torch.float64))
    stream = Stream(model, scaling=scaling, features=["flow", "heat"], gap=60)
    stream.save(path)
    return stream


def lines_of(count, seed=0):
    """Return lines of several pumps; one in twenty cannot be read."""
    draw, clock, lines = random.Random(seed), 0, []
    for _ in range(count):
        clock += draw.choice([1, 1, 1, 100])
        line = {"user": f"pump {draw.randrange(3)}", "values": {"flow": draw.random(), "heat": draw.random()}}
        lines.append(json.dumps(line | {"time": clock}) if draw.random() > 0.05 else '{"user": "pump 1"')
    return lines


def answers_at_once(path, lines):
    """Return the answers of a run that nothing interrupts."""
    copy = path.with_name("copy.safetensors")
    stream, answers = Stream.load(path), []
    (path.parent / "lines").write_text("\n".join(lines))
    with (path.parent / "lines").open() as file:
        run(stream, copy, file.fileno(), lambda text: answers.append(json.loads(text)), 9, 1000)
    return answers


def test_bad_lines_are_answered_by_name_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "run.safetensors"
    pumps(path)
    good = '{"user": "a", "values": [1, 2], "time": 3}'
    bad = {
        "hello": "not JSON: Expecting value",
        "[" * 5000: "not JSON: ",
        "[1]": "expected an object with user and values, and possibly time and session",
        '{"user": "b", "values": 1, "colour": 2}': "expected an object with user and values",
        '{"user": "b", "values": [1, NaN], "time": 1}': "user 'b': value 0, heat, is nan",
        '{"user": "a", "values": [1, 2], "time": 2}': "user 'a': time runs backwards, from 3.0 to 2.0",
        '{"user": "b", "values": {"flow": 1}, "time": 1}': "user 'b': expected the features flow, heat, got 'flow'",
        '{"user": ["b"], "values": [1, 2], "time": 1}': "the name of a user is a string",
        "\udcff": "not JSON: ",
    }
    lines = [good, *bad, good]
    reader, writer = os.pipe()
    os.write(writer, "\n".join(lines).encode(errors="surrogateescape"))  # the last line does not end
    os.close(writer)
    answers, stream = [], Stream.load(path)
    run(stream, path, reader, lambda text: answers.append(json.loads(text)), 9, 9)
    os.close(reader)
    assert [answer["line"] for answer in answers] == [*range(1, len(lines) + 1)]
    assert all(words in answer["error"] for answer, words in zip(answers[1:-1], bad.values(), strict=True))
    alone = Stream.load(path)
    alone.forget("a")
    wanted = [outputs[-1].tolist() for outputs in alone.push([("a", [1, 2], 3), ("a", [1, 2], 3)])]
    assert [answers[0]["prediction"], answers[-1]["prediction"]] == [pytest.approx(w, abs=1e-12) for w in wanted]
    assert Stream.load(path).notes == {"program": {"line": len(lines), "unread": ""}} and [*stream.users] == ["a"]


def test_a_text_is_answered_by_the_likeliest_characters(tmp_path):
    path, vocabulary = tmp_path / "run.safetensors", Vocabulary("abcd")
    torch.manual_seed(0)
    stream = Stream(SequenceModel(nn.Embedding(5, 3), nn.GRU(3, 4), 5), vocabulary=vocabulary)
    reader, writer = os.pipe()
    os.write(writer, b'{"user": "a", "values": "abc"}\n')
    os.close(writer)
    answers = []
    run(stream, path, reader, lambda text: answers.append(json.loads(text)), 9, 9)
    os.close(reader)
    stream.reset("a")
    p = stream.push([("a", "abc")])[0][-1, 1:].softmax(0)
    best = dict(sorted(zip("abcd", p.tolist()), key=lambda pair: -pair[1])[:3])
    assert answers == [{"line": 1, "user": "a", "next": pytest.approx(best, abs=1e-4)}]
    assert [*answers[0]["next"]] == [*best]


def test_lines_that_were_read_are_answered_after_a_signal(tmp_path):
    """Send SIGTERM while nine and a half lines wait that were read."""
    path, lines = tmp_path / "run.safetensors", lines_of(10)
    pumps(path)
    wanted = answers_at_once(path, lines)
    reader, writer = os.pipe()
    text = "".join(line + "\n" for line in lines).encode()
    os.write(writer, text[:-20])
    answers = []

    def write(line):
        answers.append(json.loads(line))
        os.kill(os.getpid(), signal.SIGTERM)

    run(Stream.load(path), path, reader, write, 9, 9)
    assert answers == wanted[:1]
    again = Stream.load(path)
    kept = again.notes["program"]
    assert kept["line"] == 1 and kept["unread"].count("\n") == 8 and not kept["unread"].endswith("\n")
    os.write(writer, text[-20:])
    os.close(writer)
    run(again, path, reader, lambda line: answers.append(json.loads(line)), 9, 9)
    os.close(reader)
    assert answers == wanted


@pytest.mark.parametrize("sent", ["the rest", "the whole line"])
def test_the_beginning_of_a_line_is_kept(tmp_path, sent):
    path, line = tmp_path / "run.safetensors", lines_of(1)[0] + "\n"
    stream = pumps(path)
    stream.notes = {"program": {"line": 4, "unread": line[:30]}}
    reader, writer = os.pipe()
    os.write(writer, (line[30:] if sent == "the rest" else line).encode())
    os.close(writer)
    answers = []
    run(stream, path, reader, lambda text: answers.append(json.loads(text)), 9, 9)
    os.close(reader)
    assert [answer["line"] for answer in answers] == [5] and "prediction" in answers[0]


def test_lines_that_were_kept_are_kept_by_the_next_snapshot(tmp_path):
    path, lines = tmp_path / "run.safetensors", lines_of(5)
    stream, answers = pumps(path), []
    stream.notes = {"program": {"line": 0, "unread": "".join(line + "\n" for line in lines)}}
    reader, writer = os.pipe()

    def write(line):
        answers.append(line)
        if len(answers) == 3:
            raise KeyboardInterrupt  # as sudden as a kill

    with pytest.raises(KeyboardInterrupt):
        run(stream, path, reader, write, 9, 1)
    os.close(reader)
    os.close(writer)
    notes = Stream.load(path).notes["program"]
    assert notes["line"] == 2 and notes["unread"].count("\n") == 3


def test_two_programs_do_not_use_one_file(tmp_path):
    path = tmp_path / "run.safetensors"
    pumps(path)
    left = path.with_name("run.safetensors.12.unfinished")
    left.write_text("")
    with locked(path):
        assert not left.exists()
        with pytest.raises(ValueError, match="another program uses"), locked(path):
            pass


def test_the_program_stops_by_sigterm_and_goes_on(tmp_path):
    path, lines = tmp_path / "run.safetensors", lines_of(12)
    pumps(path)
    wanted = answers_at_once(path, lines)
    command = [sys.executable, "-m", "companion.learning.stream", str(path)]
    got = []
    for start, stop in ((0, 7), (7, 12)):
        with subprocess.Popen(command, stderr=subprocess.PIPE, **PYTHON) as program:
            for line in lines[start:stop]:
                program.stdin.write(line + "\n")
                program.stdin.flush()
                got.append(json.loads(program.stdout.readline()))  # as it comes
            program.send_signal(signal.SIGTERM)
            _, errors = program.communicate(timeout=60)
        assert program.returncode == 0
        assert errors == ("" if start == 0 else "line 7 was the last one kept. Send those after 7.\n")
    assert got == wanted
    wrong = subprocess.run([*command[:-1], str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert wrong.returncode == 1 and wrong.stderr.endswith("give the path of a file, such as run.safetensors\n")


def test_kills_at_fifty_moments_lose_no_line(tmp_path):
    """Kill the program again and again, send the lines after the last one kept, and compare with a run in one go."""
    path, draw = tmp_path / "run.safetensors", random.Random(0)
    lines = lines_of(1200, seed=1)
    pumps(path)
    wanted = answers_at_once(path, lines)
    files = [str(tmp_path / name) for name in ("input", "output", "errors")]
    kills, kept, unread, got, in_save = 0, 0, 0, {}, 0
    with subprocess.Popen([sys.executable, "-c", SERVER], **PYTHON) as server:
        while kept < len(lines):
            (tmp_path / "input").write_text("".join(line + "\n" for line in lines[kept + unread :]))
            for name in files[1:]:
                open(name, "w").close()
            server.stdin.write(json.dumps([[str(path), "--lines", "5"], *files]) + "\n")
            server.stdin.flush()
            child = int(server.stdout.readline())
            if kills < 50:
                wait_for_lines(files[1], draw.randrange(25))
                time.sleep(draw.random() * 0.004)
                os.kill(child, signal.SIGKILL)
                kills += 1
            assert int(server.stdout.readline()) in (0, -signal.SIGKILL)
            errors = (tmp_path / "errors").read_text()
            also = f" {unread} lines after it were read and are answered now." if unread else ""
            told = f"line {kept:,} was the last one kept.{also} Send those after {kept + unread:,}.\n"
            assert errors == (told if kept else "")
            in_save += any(tmp_path.glob("*.unfinished"))
            complete = (tmp_path / "output").read_text().rpartition("\n")[0]
            for answer in map(json.loads, complete.split("\n") if complete else []):
                assert got.setdefault(answer["line"], answer) == answer == wanted[answer["line"] - 1]
            notes = Stream.load(path).notes.get("program", {"line": 0, "unread": ""})
            kept, unread = notes["line"], notes["unread"].count("\n")
        server.stdin.close()
    assert kills == 50 and in_save > 0 and [got[k + 1] for k in range(len(lines))] == wanted


def wait_for_lines(path, count):
    """Wait until a file has so many lines."""
    until = time.monotonic() + 60
    with open(path) as file:
        seen = 0
        while seen < count and time.monotonic() < until:
            seen += file.read().count("\n")
            time.sleep(0.0005)
    assert seen >= count, path

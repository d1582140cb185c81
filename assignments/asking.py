"""The grader's side of a question: sends cells and probes to a process of their own, and judges what comes back.

All that decides points is here: probes, what is right on them, the known mistakes. What comes back is a stranger's
text: it is read as numbers of a certain shape, or not at all.
"""

import ast
import atexit
import hashlib
import inspect
import json
import math
import os
import re
import secrets
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import torch

from companion.check import reach, running, saying
from companion.check.diagnosis import Finding, alike, diagnose
from companion.check.question import all_questions, bank
from companion.check.running import AUTOGRAD, RECURRENT, Outcome

HERE = Path(__file__).resolve().parent
FORKS = hasattr(os, "fork")
# Seconds of the processor and of the clock for a question, megabytes of memory beyond torch's own and of files.
LIMITS = {"seconds": 10, "wall": 30, "memory": 1024, "disk": 64}
MOST = 200_000  # numbers in a value
OUTPUT = 4 * 2**20  # letters of what an answer says, as in worker.py
LARGEST = 8 * OUTPUT  # bytes of what a worker says: JSON has up to six for a letter
LONG = 300_000  # letters of the code in which names are looked for
OUT_OF_MEMORY = re.compile(r"^MemoryError|can't allocate memory|not enough memory")
NO_FILE = re.compile(r"No such file or directory: '([^'`\n]{1,100})'$")
LEFT_OUT = re.compile(r" \(line \d+\)$")  # as reading.py says it of what is no Python
NO_MODULE = re.compile(r"No module named '([\w.]{1,100})'")
REFUSED = "a library's own layer"  # the worker's words for it
AUTOGRAD_REFUSED = re.compile(r"does not require grad|appears to not have been used in the graph")


# The call of a question, without its module


def portable(call):
    """A question's call as JSON: pieces of source to run, in order, and what to make of them."""
    pieces = {}

    def say(thing):
        if is_dataclass(thing):
            made = {one.name: say(getattr(thing, one.name)) for one in fields(thing)}
            return want(type(thing)) | {"fields": made}
        if isinstance(thing, tuple | list):
            return {"list": [say(one) for one in thing]}
        if callable(thing):
            return want(thing)
        return thing

    def want(thing):
        if thing.__module__ != running.__name__:
            pieces.setdefault(thing.__module__, set()).add(thing.__name__)
        return {"module": thing.__module__, "name": thing.__name__}

    said = say(call)
    cut = {}
    while pieces:
        module, names = pieces.popitem()
        before = cut.get(module, (set(), ""))[0]
        names |= before
        source, kept, others = pieces_of(module, names)
        cut.pop(module, None)
        cut[module] = kept, source
        for other, theirs in others.items():
            if not theirs <= cut.get(other, (set(), ""))[0]:
                pieces.setdefault(other, set()).update(theirs)
    order = [{"module": name, "file": sys.modules[name].__file__, "source": cut[name][1]} for name in reversed(cut)]
    return {"pieces": order, "call": said}


@cache
def statements(module):
    """A module's statements by the names that they bind."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found = {}
    for number, node in enumerate(tree.body):
        names = ()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (node.name,)
        elif isinstance(node, ast.Assign):
            names = [one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            names = (node.target.id,)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
                found.setdefault(name, []).append((number, one))
        for name in names:
            found.setdefault(name, []).append((number, node))
    return found


def pieces_of(module, names):
    """The source of these names and all that they need, the names, and what they need of other questions' modules."""
    bound, others, todo, seen, nodes = statements(module), {}, list(names), set(), {}
    while todo:
        name = todo.pop()
        if name in seen or name not in bound:
            continue
        if re.search("[Rr]eference|truth|QUESTION|Question", name):
            raise ValueError(f"the call of a question needs {name}, which no student's process may have")
        seen.add(name)
        for number, node in bound[name]:
            nodes[number, ast.unparse(node)] = None
            if isinstance(node, ast.ImportFrom) and node.module.startswith("companion.check.questions."):
                others.setdefault(node.module, set()).update(alias.name for alias in node.names)
            todo += [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return "\n\n".join(source for _, source in sorted(nodes)), seen, others


# The process


def begun(**streams):
    """A Python without anything of ours, but for worker.py."""
    environment = {key: one for key, one in os.environ.items() if key in KEPT}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1", "MPLBACKEND": "Agg"}
    return subprocess.Popen(
        [sys.executable, "-I", "-B", str(HERE / "worker.py")], **streams, env=environment,
        cwd="/" if os.name == "posix" else None, start_new_session=os.name == "posix",
    )  # fmt: skip


def settings(hidden):
    """What it is told first: where things are, and what nobody may see."""
    companion = Path(running.__file__).resolve().parents[1]
    path = [os.path.realpath(one) for one in sys.path if one and os.path.isdir(one)]
    path = [one for one in path if not Path(one, "companion").is_dir() and "site-packages" in one or is_python(one)]
    secret = [*map(os.path.realpath, hidden), str(companion)]
    secret += [str(Path(one, "companion")) for one in path if Path(one, "companion").is_dir()]
    return {"path": path, "running": running.__file__, "hidden": secret}


def packed(thing):
    said = json.dumps(thing).encode()
    return struct.pack("<I", len(said)) + said


class Mother:
    """A process that has torch without its layers, and forks one for each Worker that hands it a line: to import torch
    takes more than a second, to fork a few hundredths. It reads no job."""

    def __init__(self, hidden=()):
        self.line, theirs = socket.socketpair()
        self.process = begun(stdin=theirs, stdout=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self.close)
        self.line.sendall(packed(settings(hidden)))

    def close(self):
        self.line.close()
        self.process.kill()
        self.process.wait()


class Worker:
    """A process that runs students' code, begun anew when it is gone. Used by one thread.

    mothers: the line of a Mother that others have, too. Without it, or when she is gone, the worker has its own.
    """

    def __init__(self, hidden=(), mothers=None):
        self.hidden, self.mothers, self.mother, self.ready = hidden, mothers, None, None
        self.source = self.target = self.line = self.process = None
        atexit.register(self.close)

    def start(self):
        if FORKS:
            self.line, theirs = socket.socketpair()
            self.hand(theirs)
            theirs.close()
            self.source, self.target = self.line.makefile("rb"), self.line.makefile("wb")
        else:
            self.process = begun(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.source, self.target = self.process.stdout, self.process.stdin
            self.send(settings(self.hidden))
        self.ready = self.receive(120)
        if not self.ready:
            self.mothers = None
            raise RuntimeError("the process for students' code does not start")

    def hand(self, line):
        try:
            if self.mothers:
                return socket.send_fds(self.mothers, [b"1"], [line.fileno()])
        except OSError:
            pass
        if self.mother:
            self.mother.close()
        self.mother = Mother(self.hidden)
        self.mothers = self.mother.line
        return socket.send_fds(self.mothers, [b"1"], [line.fileno()])

    @property
    def pid(self):
        return self.ready["pid"]

    def send(self, thing):
        self.target.write(packed(thing))
        self.target.flush()

    def receive(self, seconds):
        """What it says, or None if it ends, or takes longer than that."""
        watch = threading.Timer(seconds, self.kill)
        watch.start()
        try:
            head = self.source.read(4)
            size = struct.unpack("<I", head)[0] if len(head) == 4 else 0
            return json.loads(self.source.read(size)) if 0 < size < LARGEST else None
        except (ValueError, RecursionError, OSError):
            return None
        finally:
            watch.cancel()

    def ask(self, job):
        """How a job ended: {"ended", "said", "seconds"}."""
        wall = job["limits"]["wall"]
        for left in (1, 0):
            self.hand_over(job)
            begin = time.monotonic()
            answer = self.receive(wall + 20 if FORKS else wall)
            seconds = time.monotonic() - begin
            if answer is None or not FORKS:  # without fork, the student's code ran in this very process
                self.close()
            if answer is not None:
                return ended_of(answer, seconds)
            if seconds >= wall:
                return {"ended": "time", "said": "", "seconds": seconds}
            if not (left and FORKS):  # once it may have been ended by something else
                return {"ended": "quit", "said": "", "seconds": seconds}

    def hand_over(self, job):
        for left in (2, 1, 0):
            try:
                if not self.ready:
                    self.start()
                return self.send(job)
            except (OSError, RuntimeError):
                self.close()
                if not left:
                    raise

    def kill(self):
        """While it holds its line, its number is no other's."""
        try:
            if FORKS:
                self.line.shutdown(socket.SHUT_RDWR)
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self.process.kill()
        except (OSError, TypeError):
            pass

    def close(self):
        """Where nobody is at the other end of its line, it ends by itself, with all that it runs."""
        self.ready = None
        for one in (self.target, self.source, self.line):
            try:
                one.close() if one else None
            except OSError:  # what was still to be written
                pass
        if self.process:
            self.process.kill()
            self.process.wait()
        self.source = self.target = self.line = self.process = None


KEPT = {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "UNROLLED_DEBUG"}


def is_python(folder):
    """Whether it is one of Python's own folders."""
    return folder.startswith((os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix), sys.prefix))


# What came back


class Forged(ValueError):
    """Not what the process was asked for."""


def ended_of(said, seconds):
    """What a worker says of a job, within bounds: where there is no fork, the student's own process says it."""
    text = said.get("said") if isinstance(said, dict) else None
    if not isinstance(text, str) or not isinstance(said.get("ended"), str):
        return {"ended": "quit", "said": "", "seconds": seconds}
    if len(text) > OUTPUT:
        return {"ended": "output", "said": "", "seconds": seconds}
    return {"ended": word(said["ended"], 100), "said": text, "seconds": seconds}


def outcome_of(said):
    """An Outcome from a stranger's JSON. Forged if it is none."""
    if not isinstance(said, dict) or not isinstance(said.get("values"), dict) or len(said["values"]) > 100:
        raise Forged
    values = {word(name): tensor_of(packed) for name, packed in said["values"].items()}
    return Outcome(values, notes_of(said.get("notes")), error_of(said.get("error")))


def word(thing, most=200):
    """A stranger's text for a line of Markdown: what stands between backticks has none itself."""
    if not isinstance(thing, str):
        raise Forged
    return "".join(one if one.isprintable() else " " for one in thing[:most]).replace("`", "'")


def tensor_of(packed):
    if not isinstance(packed, dict):
        raise Forged
    shape, numbers = packed.get("shape"), packed.get("numbers")
    if not isinstance(shape, list) or not isinstance(numbers, list) or len(shape) > 8 or len(numbers) > MOST:
        raise Forged
    if not all(type(size) is int and 0 <= size <= MOST for size in shape) or math.prod(shape) != len(numbers):
        raise Forged
    if not all(type(number) in (float, int) for number in numbers):
        raise Forged
    try:
        return torch.tensor([float(number) for number in numbers], dtype=torch.float64).reshape(shape)
    except (OverflowError, RuntimeError) as error:
        raise Forged from error


def words_of(said, most=50):
    """As many as anyone would read."""
    if not isinstance(said, list):
        raise Forged
    return [word(one) for one in said[:most]]


def notes_of(said):
    if not isinstance(said, dict):
        raise Forged
    notes = {}
    for key in ("library", "missing", "extra", "plain", "changed"):
        if key in said:
            notes[key] = words_of(said[key])
    if "renamed" in said:
        if not isinstance(said["renamed"], list) or any(len(words_of(pair)) != 2 for pair in said["renamed"]):
            raise Forged
        notes["renamed"] = [words_of(pair) for pair in said["renamed"][:50]]
    if "shapes" in said:
        if not isinstance(said["shapes"], dict):
            raise Forged
        notes["shapes"] = {word(name): sizes(one) for name, one in list(said["shapes"].items())[:50]}
    return {key: one for key, one in notes.items() if one}


def whole(thing):
    """A number of a cell or a line."""
    if type(thing) is not int or not 0 <= thing < 10**9:
        raise Forged
    return thing


def sizes(said):
    if not isinstance(said, list) or len(said) > 8 or not all(type(one) is int and abs(one) < 2**40 for one in said):
        raise Forged
    return said


UNFIT = {
    key.removeprefix("unfit_"): set(re.findall(r"\{(\w+)\}", text))
    for key, text in saying.words("en")["results"].items()
    if key.startswith("unfit_")
}


def error_of(said):
    if said is None:
        return None
    if not isinstance(said, dict):
        raise Forged
    kind = word(said.get("kind"))
    if kind == "raises_error":
        error = {"kind": kind, "type": word(said.get("type"), 100), "text": word(said.get("text"), 300)}
        if type(said.get("line")) is int and isinstance(said.get("code"), str):
            error |= {"line": whole(said["line"]), "code": word(said["code"])}
        return error
    more = said.get("said")
    if kind not in UNFIT or not isinstance(more, dict) or not UNFIT[kind] <= set(more):
        raise Forged
    return {"kind": kind, "said": {key: sizes(more[key]) if isinstance(more[key], list) else word(more[key])
                                   for key in UNFIT[kind]}}  # fmt: skip


# A question


@dataclass
class Verdict:
    """What is said of one answer. mistakes: names; none if it is right. paragraphs: Markdown, for the student."""

    question: str
    points: float
    most: int
    mistakes: list
    paragraphs: list
    seconds: float = 0.0
    stretch: bool = False
    remarks: list = field(default_factory=list)
    walls: list = field(default_factory=list)

    @property
    def ok(self):
        return not self.mistakes


def fresh_seed():
    return secrets.randbits(62)


def blank(question):
    """The verdict on the question of this name before anything is known."""
    asked = all_questions()[question]
    return Verdict(question, 0.0, asked.points, [], [], stretch=asked.stretch)


def grade(worker, question, answer, seed, language, words, limits=LIMITS, numbers=None, student=""):
    """The verdict on an answer (reading.Answer, or None) to the question of this name.

    What the answer needs is run first, and if it is right, nothing else: what is tried out around it costs nothing. If
    it is not right, and something else was left out that might matter, all of the notebook is run, and the better
    counts. words: the grader's own. numbers: a dictionary that probes and all that came of them are to be put into.
    student: the name or number by which a question that has variants was put.
    """
    asked = all_questions()[question].asked_of(student)
    if asked.reach:
        limits = limits | {"seconds": asked.reach.seconds, "wall": 3 * asked.reach.seconds}
    if answer is None or not answer.cells:
        return failed(blank(question), "no_answer", words)
    verdict, shown = best_of(worker, asked, answer, seed, language, words, limits)
    if answer.other is not None:
        # below is a better copy, or something tried out: who can say which was meant?
        cell = answer.cell
        if not verdict.ok:
            again, more = best_of(worker, asked, answer.other, seed, language, words, limits)
            if again.points > verdict.points:
                verdict, shown, cell = again, more, answer.other.cell
        verdict.remarks.append(words["page"]["several_cells"].format(cell=cell))
    if numbers is not None and shown:
        numbers["probes"] = shown
    return verdict


def best_of(worker, asked, answer, seed, language, words, limits):
    """The verdict on an answer, of what it needs or of all its notebook, and what is shown to whoever appeals."""
    probed = probed_by(asked, seed)
    judging = Judging(worker, asked, probed, answer, language, words, findings_of(asked.name, asked.variant, seed))
    verdict, outcomes, others = judging.tried(limits, needed=True)
    lost = not outcomes or any(one.error for one in outcomes)
    # a network that was trained is there: to train it once more takes as long
    trained = asked.reach and outcomes and not lost
    if verdict.mistakes and not trained and (others == "more" or others == "idle" and lost):
        # where the answer is there, what is left has not much time: it is not likely to matter
        less = {key: max(2, limits[key] // 3) for key in ("seconds", "wall")} if outcomes else {}
        again, more, _ = judging.tried(limits | less, needed=False)
        again.seconds = round(again.seconds + verdict.seconds, 2)
        if not outcomes or again.points > verdict.points or not set(again.mistakes) & STOPPED:
            verdict, outcomes = again, more
    return verdict, [
        {"probe": probe.to_json(), "right": right.to_json(), "given": given.to_json()}
        for probe, right, given in zip(probed.probes, probed.expected, outcomes)
    ]


@lru_cache(maxsize=64)
def findings_of(question, variant, seed):
    """What was found of outcomes, by their digest: to look for a mistake takes long, and in a class many make the same."""
    return {}


@dataclass
class Judging:
    """One answer, to be run once or twice."""

    worker: Worker
    asked: object
    probed: object
    answer: object
    language: str
    words: dict
    findings: dict

    def tried(self, limits, needed):
        """The verdict, the outcomes that came, and what was left out ("", "idle", "more"), as needing.py says."""
        asked, probed, answer, words = self.asked, self.probed, self.answer, self.words
        verdict = blank(asked.name)
        ended = self.worker.ask(job_of(asked, probed, answer, limits, needed))
        verdict.seconds = round(float(ended["seconds"]), 2)
        verdict.walls, said = walls_of(ended["said"])
        if not ended["ended"] and not said:
            ended["ended"] = "quit"
        if ended["ended"] == "signal 4":  # the instruction that stands in the place of a library's function
            return concluded(verdict, asked, probed, Finding(["library_layer"]), self.language), [], ""
        if ended["ended"]:
            how = limits["seconds"] if ended["ended"] == "time" else ended["ended"]
            return failed(verdict, ENDED.get(ended["ended"], "crashed"), words, how), [], ""
        try:
            outcomes, errors, others = outcomes_of(said, len(probed.probes))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return failed(verdict, "not_an_answer", words), [], ""
        said = [words["page"]["not_python"] if LEFT_OUT.search(one["text"]) else words["cell_error"] for one in errors[:3]]
        verdict.remarks = [text.format(**one) for text, one in zip(said, errors)]
        absent = (NO_MODULE.match(one["text"]) for one in errors if one["type"] == "ModuleNotFoundError")
        lacking = {found[1] for found in absent if found}
        verdict.remarks += [words["page"]["no_module"].format(name=name) for name in sorted(lacking)[:3]]
        lacking = [NO_FILE.search(one["text"]) for one in errors if one["type"] == "FileNotFoundError"]
        lacking = {found[1] for found in lacking if found}
        verdict.remarks += [words["page"]["no_file"].format(name=name) for name in sorted(lacking)[:3]]
        if outcomes is None and any(one["cell"] == answer.cell and REFUSED in one["text"] for one in errors):
            return concluded(verdict, asked, probed, Finding(["library_layer"]), self.language), [], ""
        if mistake := missing(outcomes):
            return failed(verdict, mistake, words), outcomes or [], others
        for probe in probed.rest(outcomes) if asked.reach else ():  # each in a process of its own
            ended = self.worker.ask(job_of(asked, probed, answer, limits, needed) | {"probes": [probe.to_json()]})
            verdict.seconds = round(verdict.seconds + float(ended["seconds"]), 2)
            try:
                outcomes += outcomes_of(walls_of(ended["said"])[1], 1)[0]
            except (ValueError, RecursionError, KeyError, TypeError, AttributeError):  # it came to no end, or gave nothing
                outcomes.append(Outcome())
        key = hashlib.sha256(repr([one.to_json() for one in outcomes]).encode()).digest()
        if key not in self.findings:
            self.findings[key] = judge(probed, outcomes, asked)
        return concluded(verdict, asked, probed, self.findings[key], self.language), outcomes, others


# What is run beside a notebook's cells, so that what {name} gives is something else.
SPOILING = """
def spoiled_(made):
    def other(thing):
        if isinstance(thing, (tuple, list)):
            return type(thing)(map(other, thing))
        if isinstance(thing, dict):
            return {{key: other(one) for key, one in thing.items()}}
        return 2 * thing + 1
    if isinstance(made, type):
        forward = made.forward
        made.forward = lambda *given, **named: other(forward(*given, **named))
        return made
    return lambda *given, **named: other(made(*given, **named))
{name} = spoiled_({name})
"""


def follow_through(verdicts, answers, words, worker, seeds, limits=LIMITS, student="", stays=()):
    """Pays an answer that is wrong only by the mistakes of an earlier one that it uses, and says where they come from.

    The numbers say so: they are those of an answer with these mistakes and no other, and change with what the earlier
    one gives. No right answer is put in the earlier one's place, as it would be in the student's process. verdicts: as
    they are stored, in order. seeds: {question: seed}. stays: questions of which nothing changes.
    """
    for place, verdict in enumerate(verdicts):
        asked = all_questions()[verdict["question"]].asked_of(student)
        earlier = [one for one in verdicts[:place] if one["mistakes"] and one["assignment"] == verdict["assignment"]]
        answer = answers.get(asked.name)
        if not verdict["mistakes"] or not earlier or answer is None or asked.name in stays:
            continue
        used = names_used(answer)
        earlier = [one for one in earlier if all_questions()[one["question"]].asks_for in used]
        mine = set(verdict["mistakes"])
        source = next((one for one in earlier if mine <= set(one["mistakes"])), None)
        if source and mine <= set(asked.names):
            if depends(worker, asked, answer, source["question"], answers, seeds[asked.name], limits):
                verdict["points"] = float(asked.points)
                verdict["remarks"].append(words["page"]["comes_from"].format(name=source["question"]))
        elif earlier:
            verdict["remarks"].append(words["page"]["look_first"].format(name=earlier[0]["question"]))


def depends(worker, asked, answer, question, answers, seed, limits):
    """Whether an answer gives something else when that to an earlier question does: to name it is not to use it. Where
    that cannot be seen, it is believed."""
    earlier, probed = answers.get(question), probed_by(asked, seed)
    there = earlier and earlier.file == answer.file and earlier.cell < answer.cell
    after = [earlier.cell if there else answer.cell, SPOILING.format(name=all_questions()[question].asks_for)]
    for one in filter(None, (answer, answer.other)):
        place = next((place for place, (number, _) in enumerate(one.cells, 1) if number == after[0]), len(one.cells))
        found = []
        for cells in (one.cells, [*one.cells[:place], after, *one.cells[place:]]):
            ended = worker.ask(job_of(asked, probed, replace(one, cells=cells), limits, needed=True))
            try:
                found.append(outcomes_of(walls_of(ended["said"])[1], len(probed.probes))[0])
            except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
                return True
        if not all(found) or not all(map(alike, *found)):
            return True
    return False


def names_used(answer):
    """All names that an answer uses, and what it uses, but its own."""
    bodies, left = {}, LONG
    for _, source in answer.cells:
        if len(source) > min(left, 100_000):
            continue
        left -= len(source)
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                bodies[node.name] = bodies.get(node.name, set()) | named
    found, todo = set(), [name for name in answer.names if name in bodies]
    while todo:
        for name in bodies[todo.pop()] - found:
            found.add(name)
            todo += [name] if name in bodies else []
    return found - set(answer.names)


def job_of(asked, probed, answer, limits, needed):
    """What a worker is sent: nothing that tells what is right."""
    return {
        "cells": answer.cells, "names": answer.names, "probes": [probe.to_json() for probe in probed.probes],
        "forbidden": sorted(asked.forbidden - RECURRENT - AUTOGRAD), "autograd": asked.forbidden >= AUTOGRAD,
        "layers": asked.layers_made, "limits": limits, "needed": needed, "place": answer.cell,
        "modules": answer.modules, **portable_of(asked.name),
    }  # fmt: skip


def walls_of(said):
    """The walls that held, which are said first, and the rest."""
    walls, _, rest = said.partition("\n")
    try:
        return words_of(json.loads(walls)) if walls else [], rest
    except (ValueError, RecursionError):
        return [], rest


def missing(outcomes):
    """The mistake of an answer that is not there, not written, or without the memory that it wants; or None."""
    if outcomes is None:
        return "no_answer"
    raised = [one.error or {} for one in outcomes]
    if any(one.get("type") == "NotImplementedError" for one in raised):
        return "not_written"
    if any(OUT_OF_MEMORY.search(f"{one.get('type')}: {one.get('text')}") for one in raised):
        return "memory_limit"
    return None


def concluded(verdict, asked, probed, finding, language):
    verdict.mistakes = list(finding.mistakes)
    verdict.paragraphs = paragraphs(asked, probed, finding, language)
    verdict.points = round(asked.points * finding.share, 2)
    if finding.ok:
        verdict.remarks = []
    return verdict


ENDED = {"time": "time_limit", "memory": "memory_limit", "output": "too_many_numbers", "quit": "stopped_early"}
STOPPED = {*ENDED.values(), "crashed"}  # mistakes of what did not come to an end by itself


def failed(verdict, mistake, words, how=""):
    verdict.mistakes = [mistake]
    entry = words["mistakes"][mistake]
    verdict.paragraphs = [f"**{entry['says']}** {entry['advice'].format(how=how)}\n`{mistake}`"]
    return verdict


@cache
def portable_of(question):
    return portable(all_questions()[question].call)


def outcomes_of(said, count):
    said = json.loads(said)
    errors = [
        {"cell": whole(one["cell"]), "type": word(one["type"], 100), "text": word(one["text"], 300)}
        for one in said["errors"][:20]
    ]
    others = said["others"] if said["others"] in ("idle", "more") else ""
    if said["outcomes"] is None:
        return None, errors, others
    if not isinstance(said["outcomes"], list) or len(said["outcomes"]) != count:
        raise Forged
    return [outcome_of(one) for one in said["outcomes"]], errors, others


def probed_by(asked, seed):
    return reach.exam(asked, seed) if asked.reach else bank(asked.name, seed, asked.variant)


def judge(probed, outcomes, asked):
    """As the checker's diagnosis. But an answer that is right is so, whatever it has tried beside: no layer worked."""
    texts = [(one.error or {}).get("text", "") for one in outcomes]
    if asked.forbidden >= AUTOGRAD and any(map(AUTOGRAD_REFUSED.search, texts)):
        outcomes[0].notes["library"] = ["torch.autograd"]
    for one in outcomes:
        if REFUSED in (one.error or {}).get("text", ""):
            one.notes.setdefault("library", [one.error["text"].partition(":")[0]])
    library = [one.notes.pop("library", None) for one in outcomes]
    if any(library):
        if asked.reach or not all(alike(expected, got) for expected, got in zip(probed.expected, outcomes)):
            ran = sorted({name for names in library for name in names or ()})
            return Finding(["library_layer"], notes={"library": ran} if ran else {})
    return reach.judge(probed, outcomes) if asked.reach else diagnose(probed, outcomes)


def paragraphs(asked, probed, finding, language):
    try:
        return saying.Sayer(asked, probed, finding, language).paragraphs()
    except (KeyError, ValueError, IndexError, RuntimeError, TypeError):  # a forged finding may lack what is to be said
        return [f"`{name}`" for name in finding.mistakes]

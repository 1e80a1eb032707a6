"""What the author of a pull request may try with a ledger, against the real gate and a real model.

The suite of the base tries two prompts on a model that really answers, and its ledger is committed.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.ledger import FOLDER
from tests.integration.attacks.attack import IGNORED, write
from tests.integration.test_attacks import gate
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUITE = """\
models: [{{name: {model}, label: tiny, quantization: none}}]
tasks: [{{name: words, format: jsonl, path: words.jsonl, append_choices: false}}]
prompts: {{shots: 0, count: 2, instructions: ["", "Say:\\n"]}}
assert: report
"""
HOME = "eval_suites/demo"
SENTENCES = """\
Which animals usually sleep through the whole winter?
Do penguins usually fly from one island to another?
Is bread usually baked with yeast, flour and water?
Does a violin usually have exactly four strings?
Can trains usually stop within a few metres of a signal?
Are deserts usually colder than forests after sunset?
Would a lawyer usually charge by the hour in this town?
Has every bicycle usually got brakes at both of its wheels?
Should a cake usually cool down before anybody cuts it?
Will tides usually rise twice between one noon and the next?
Must guests usually leave their shoes beside this door?
Have old maps usually shown the north at their upper edge?
"""


def questions(text: str) -> str:
    rows = [
        {"input": one, "choices": ["Yes", "No"], "answer": number % 2}
        for number, one in enumerate(text.splitlines())
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


ASKED = questions(SENTENCES)
REWORDED = questions(SENTENCES.replace("usually", "mostly"))
OTHERS = questions("".join(f"{one} or not, and why?\n" for one in "abcdefghijkl"))


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> Path:
    """A repository of which `base` counts what was tried."""
    folder = tmp_path_factory.mktemp("tried") / "repository"
    write(folder, {
        f"{HOME}/words.maxrandom.yaml": SUITE.format(model=tiny_llama),
        f"{HOME}/words.jsonl": ASKED,
        "pytest.ini": "[pytest]\n",
        ".gitignore": IGNORED,
    })  # fmt: skip
    begin_repository(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["gate", "eval_suites", "--ledger=off"]) == 0
    commit(folder)
    git(folder, "branch", "base")
    return folder


def reworded(folder: Path) -> None:
    (folder / HOME / "words.jsonl").write_text(REWORDED)
    other_prompt(folder)


def other_prompt(folder: Path) -> None:
    suite = next(folder.glob("eval_suites/*/words.maxrandom.yaml"))
    suite.write_text(suite.read_text().replace('"Say:', '"Tell:'))


def others(folder: Path) -> None:
    (folder / HOME / "words.jsonl").write_text(OTHERS)


def moved(folder: Path) -> None:
    reworded(folder)
    (folder / HOME).rename(folder / "eval_suites" / "elsewhere")


def moved_without(folder: Path) -> None:
    moved(folder)
    shutil.rmtree(folder / "eval_suites" / "elsewhere" / FOLDER)


def cut(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))


def ignored(folder: Path) -> None:
    cut(folder)
    (folder / ".gitignore").write_text(f"{FOLDER}/\n.maxrandom/\nmaxrandom-report/\n")


def skipped(folder: Path) -> None:
    (folder / "conftest.py").write_text(
        "import pytest\n\ndef pytest_runtest_setup(item):\n    pytest.skip('no')\n"
    )


def apart(folder: Path) -> None:
    """Let a line of the ledger say that reworded questions are others."""
    reworded(folder)
    ledger = folder / HOME / FOLDER
    known = {*ledger.glob("*.jsonl")}
    command = [sys.executable, "-m", "pytest", "--quiet", "eval_suites"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    (new,) = {*ledger.glob("*.jsonl")} - known
    assert main(["ledger", "apart", str(new), "--why", "other questions"]) == 0


def other_line_ends(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def sharded(folder: Path) -> None:
    """Let a configuration of pytest name answers that were computed elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["shards", "eval_suites", "--into", "1", "--out", "parts"]) == 0
        assert main(["run-shard", "parts", "1"]) == 0
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --maxrandom-shards=parts\n")


def long_number(folder: Path) -> None:
    """Give a line a number of more digits than Python reads."""
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    file.write_text(file.read_text() + f'{{"kind": "prompt", "shots": {"9" * 5000}}}\n')


def deep_line(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    file.write_text(file.read_text() + "[" * 100_000 + "\n")


def huge_t(folder: Path) -> None:
    """Add lines with numbers that no library's tables hold."""
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    rows = {row["kind"]: row for row in map(json.loads, file.read_text().splitlines())}
    more = [{**rows["look"], "look": "0" * 64, "t": 10**300}, {**rows["prompt"], "shots": 10**300}]
    file.write_text(file.read_text() + "".join(f"{json.dumps(row)}\n" for row in more))


def key_twice(folder: Path) -> None:
    """Let a line show a reviewer another number first than the one that a reader would take."""
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    head, line = file.read_text().rstrip("\n").rsplit("\n", 1)
    assert line.startswith("{")
    file.write_text(f'{head}\n{{"kind": "prompt", {line[1:]}\n')


def another_time(folder: Path) -> None:
    """Let all lines be of a time to come, as on a machine whose clock jumped."""
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    kept = [row for row in rows if "when" not in row]
    later = [{**row, "when": "9999-12-31T23:59:59+00:00"} for row in rows if "when" in row]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in [*kept, *later]))
    other_prompt(folder)


def no_folder(folder: Path) -> None:
    """Let a file be where the ledger's folder was, so that nothing can be written there."""
    shutil.rmtree(folder / HOME / FOLDER)
    (folder / HOME / FOLDER).write_text("")


def conflict(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    first, *others = file.read_text().splitlines()
    marked = ["<<<<<<< HEAD", first, "=======", first, ">>>>>>> other", *others]
    file.write_text("".join(f"{line}\n" for line in marked))


def reordered(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    file.write_text("".join(f"{line}\n" for line in sorted(file.read_text().splitlines())))


def linked(folder: Path) -> None:
    """Let a link to a shorter file be where the ledger was."""
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    (folder / "shorter.jsonl").write_text(file.read_text().partition("\n")[0] + "\n")
    file.unlink()
    file.symlink_to(folder / "shorter.jsonl")


def in_lfs(folder: Path) -> None:
    (file,) = (folder / HOME / FOLDER).glob("*.jsonl")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n"
    file.write_text(pointer)


def in_submodule(folder: Path) -> None:
    """Let another repository hold the ledger, with one line less."""
    other = folder.parent / "other"
    shutil.move(folder / HOME / FOLDER, other)
    (file,) = other.glob("*.jsonl")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    begin_repository(other)
    git(folder, "rm", "-r", "--quiet", "--cached", f"{HOME}/{FOLDER}")
    allowed = ("-c", "protocol.file.allow=always")
    git(folder, *allowed, "submodule", "--quiet", "add", other, f"{HOME}/{FOLDER}")


def lying_weights(folder: Path) -> None:
    """Name a copy of the model whose header claims more than there is."""
    suite = folder / HOME / "words.maxrandom.yaml"
    model = re.search(r"name: (/.*?),", suite.read_text())
    assert model is not None
    shutil.copytree(model[1], folder / "weights")
    file = folder / "weights" / "model.safetensors"
    file.write_bytes(struct.pack("<Q", 2**63) + file.read_bytes()[8:])
    suite.write_text(suite.read_text().replace(model[1], "../../weights"))


def endless_template(folder: Path) -> None:
    """Ask the model in a chat template that never ends."""
    suite = folder / HOME / "words.maxrandom.yaml"
    model = re.search(r"name: (/.*?),", suite.read_text())
    assert model is not None
    shutil.copytree(model[1], folder / "weights")
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (folder / "weights" / "chat_template.jinja").write_text(loop)
    text = suite.read_text().replace(f"{model[1]},", "../../weights, chat: true,")
    suite.write_text(f"{text}limits: {{template_seconds: 1}}\n")


@dataclass(frozen=True)
class LedgerAttack:
    """What is changed in the work tree, and what must be seen."""

    change: Callable[[Path], None]
    colour: str
    lines: tuple[str, str, str]
    arguments: tuple[str, ...] = ()


ANEW = "1 claim counts its tries anew"
UNTESTED = ("1 of 1 claim could not be tested", "`words` 0-shot: **could not be tested**", "")
LOST = ("the ledger lost what stood at base", "1 result reported", "")
UNTESTED_AND_LOST = (LOST[0], UNTESTED[0], UNTESTED[1])
LEDGER_ATTACKS = [
    LedgerAttack(other_prompt, "green", ("1 result reported", "", "")),
    LedgerAttack(reworded, "green", ("1 result reported", "", "")),
    LedgerAttack(others, "amber", (ANEW, "counts its tries anew", "")),
    LedgerAttack(others, "red", ("words[tiny-none-0shot] counts its tries anew", ANEW, "counts"),
                 ("--fail-on=restarted",)),
    LedgerAttack(apart, "amber", (ANEW, "counts its tries anew", "")),
    LedgerAttack(other_line_ends, "green", ("1 result reported", "", "")),
    LedgerAttack(moved, "amber", (ANEW, "counts its tries anew", "")),
    LedgerAttack(moved_without, "red", ("the ledger lost", ANEW, "counts its tries anew")),
    LedgerAttack(cut, "red", ("the ledger lost", "", "")),
    LedgerAttack(skipped, "amber", ("1 claim is skipped now", "**is skipped now**", "")),
    LedgerAttack(ignored, "red", ("the ledger lost", "", "")),
    LedgerAttack(sharded, "red", ("a configuration of pytest has --maxrandom-sh", "1 of 1", "")),
    LedgerAttack(long_number, "red", UNTESTED),
    LedgerAttack(deep_line, "red", UNTESTED),
    LedgerAttack(huge_t, "red", UNTESTED),
    LedgerAttack(key_twice, "red", UNTESTED_AND_LOST),
    LedgerAttack(another_time, "green", ("1 result reported", "", "")),
    LedgerAttack(no_folder, "red", UNTESTED_AND_LOST),
    LedgerAttack(conflict, "red", UNTESTED),
    LedgerAttack(reordered, "green", ("1 result reported", "", "")),
    LedgerAttack(linked, "red", LOST),
    LedgerAttack(in_lfs, "red", UNTESTED_AND_LOST),
    LedgerAttack(in_submodule, "red", LOST),
    LedgerAttack(lying_weights, "red", UNTESTED),
    LedgerAttack(endless_template, "red", UNTESTED),
]  # fmt: skip


@pytest.mark.parametrize(
    "attack", LEDGER_ATTACKS, ids=lambda one: f"{one.change.__name__} {one.colour}"
)
def test_the_colour_and_the_first_lines_where_a_ledger_is_attacked(
    attack: LedgerAttack, tried: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "repository"
    shutil.copytree(tried, folder)
    attack.change(folder)
    commit(folder)
    gate(folder, capfd, "--base-ref=base", "--ledger=off", *attack.arguments).check(attack)


def test_reworded_questions_are_counted_once_their_lines_are_committed(
    tried: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "repository"
    shutil.copytree(tried, folder)
    reworded(folder)
    commit(folder)
    seen = gate(folder, capfd, "--base-ref=base")
    assert seen.colour == "red"
    assert "has tries in no committed ledger" in seen.lines[0]
    commit(folder)
    seen = gate(folder, capfd, "--base-ref=base")
    assert (seen.code, seen.colour) == (0, "green"), seen.out

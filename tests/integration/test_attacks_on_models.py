"""What a server, and what a pull request says of one, may try against the real gate.

The suite of the base asks a server that really answers, and lets it write answers.
"""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration import test_attacks
from tests.integration.attacks.attack import IGNORED, write
from tests.integration.jobs import ROOT
from tests.integration.test_attacks import gate
from tests.integration.test_attacks_on_ledgers import LEDGER_ATTACKS
from tests.repositories import begin_repository, commit, git
from tests.served import FakeServer, serving, written
from tests.unit.models.tokenizers import write_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytest.importorskip("regex")
PAGE = "docs/explanation/threat-model.md"
KEY = "sk-A/b+c9.Zz_0123456789"
YAML = "eval_suites/words.maxrandom.yaml"
SUITE = """\
models:
  - {name: m, backend: openai, url: "URL", served_model: the-model, chat: true, timeout: 3,
     api_key_env: OUR_KEY}
tasks: [{name: words, format: jsonl, path: words.jsonl}]
prompts: {shots: 0, count: 2, instructions: ["", "Say:\\n"]}
scoring: generate
generation: {max_tokens: 50}
assert: report
"""
ASKED = ("rust", "ice", "blood", "grass", "wine", "milk", "brick", "coal", "rose", "snow")
ROWS = "".join(
    json.dumps({"input": f"Is {word} red?", "choices": ["yes", "no"], "answer": number % 2}) + "\n"
    for number, word in enumerate(ASKED)
)
UNTESTED = ("1 claim could not be tested", "**could not be tested**; the full report says what")
REPORTED = ("1 result reported", "Best accuracies: 1 at the standard baseline")
SCORED = {
    "chat: true,": 'tokenizer: "TOKENIZER",',
    "scoring: generate\ngeneration: {max_tokens: 50}\n": "",
}
"""Changes a suite so that the server tells log-probabilities, and writes nothing."""


def packed(out: Any) -> None:
    """Answer with 3 MB that are 3 KB."""
    body = gzip.compress(b'{"data": [' + b" " * 3_000_000 + b"]}")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n"
    out.write(f"{head}Connection: close\r\n\r\n".encode() + body)


def deep(out: Any) -> None:
    """Answer with brackets that are never closed."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\nConnection: close\r\n\r\n"
    out.write(head + b"[" * 200_000)


def dripping(out: Any) -> None:
    """Answer with a byte now and then, for as long as anybody reads."""
    out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(100_000):
        out.write(b" ")
        out.flush()
        time.sleep(0.2)


@dataclass(frozen=True)
class ServerAttack:
    """What a server does, what a suite says of it, and what must be seen."""

    name: str
    colour: str
    lines: tuple[str, ...]
    faults: dict[str, Any] = field(default_factory=dict)
    says: str = "yes"
    sed: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


ATTACKS = [
    ServerAttack("an honest server", "green", REPORTED),
    ServerAttack("an answer that drips", "red", UNTESTED, faults={"raw": dripping}),
    ServerAttack(
        "an answer that unpacks to much",
        "red",
        UNTESTED,
        faults={"raw": packed},
        environment={"MAXRANDOM_LIMITS": "answer_mb=1"},
    ),
    ServerAttack("brackets without end", "red", UNTESTED, faults={"raw": deep}),
    ServerAttack(
        "a pattern that never ends",
        "red",
        UNTESTED,
        says="a" * 60 + "!",
        sed={"max_tokens: 50": "max_tokens: 50, pattern: '(a|aa)+$'"},
        environment={"MAXRANDOM_LIMITS": "pattern_seconds=1"},
    ),
    ServerAttack(
        "another address for the key",
        "red",
        UNTESTED,
        environment={"MAXRANDOM_API_KEYS": "api.example.org=OUR_KEY"},
    ),
    ServerAttack(
        "numbers that depend on when it is asked", "red", UNTESTED, {"order": True}, sed=SCORED
    ),
    ServerAttack("numbers above 0", "red", UNTESTED, {"values": [0.5]}, sed=SCORED),
    ServerAttack("the same number for all", "red", UNTESTED, {"zero": True}, sed=SCORED),
    ServerAttack("no numbers of the text", "red", UNTESTED, {"no_echo": True}, sed=SCORED),
    ServerAttack("a redirect", "red", UNTESTED, faults={"redirect": "http://127.0.0.1:9/"}),
    *(
        ServerAttack(
            f"the key in an answer, {way}",
            "green",
            REPORTED,
            says=f"yes: {text}",
        )
        for way, text in written(KEY).items()
        if way in ("plain", "base64", "digits")
    ),
]


@pytest.fixture(scope="module")
def word_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return write_words(tmp_path_factory.mktemp("words"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving("openai") as running:
        yield running


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_colour_and_the_first_lines_where_a_server_attacks(
    attack: ServerAttack,
    server: FakeServer,
    word_tokenizer: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    suite = SUITE.replace("URL", server.url)
    folder = tmp_path / "repository"
    files = {YAML: suite, "eval_suites/words.jsonl": ROWS}
    write(folder, {**files, "pytest.ini": "[pytest]\n", ".gitignore": IGNORED})
    begin_repository(folder)
    git(folder, "branch", "base")
    for old, new in attack.sed.items():
        assert old in suite
        suite = suite.replace(old, new.replace("TOKENIZER", str(word_tokenizer)))
    write(folder, {YAML: suite})
    commit(folder)
    server.faults.update(attack.faults)
    server.says = lambda prompt: (attack.says, "stop")
    host = server.url.removeprefix("http://")
    allowed = {"MAXRANDOM_API_KEYS": f"{host}=OUR_KEY", "OUR_KEY": KEY}
    kept = "--pytest-args=--maxrandom-predictions=answers.jsonl"
    arguments = ("--base-ref=base", "--ledger=off", kept)
    seen = gate(folder, capfd, *arguments, **(allowed | attack.environment))
    seen.check(attack)
    if attack.colour == "green":
        assert server.keys
        assert "yes" in (folder / "answers.jsonl").read_text()
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        content = file.read_bytes()
        for form in written(KEY).values():
            assert form.strip("=").encode() not in content, file
    assert KEY not in seen.out


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="reads no pytest.toml, which two change")
def test_the_threat_model_says_how_many_attacks_are_tried() -> None:
    tried = len(test_attacks.ATTACKS) + len(LEDGER_ATTACKS) + len(ATTACKS)
    assert f"Tests run {tried} attacks" in (ROOT / PAGE).read_text(encoding="utf-8")

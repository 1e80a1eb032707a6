"""Two hosts on one file system lose nothing that was counted, whoever is killed and when.

A host is a tree of processes with a temporary folder of its own, so that no lock in it reaches the
other.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import struct
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.union import by_set, unite
from tests.proof.scale import scaled
from tests.unit.ledger.common import OWN, ledger, rows, tries

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess
    from pathlib import Path

_TOLD = struct.Struct("<q")
_PROCESSES = 2  # of a host

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def _count(folder: Path, first: int, told: int) -> None:
    made = ledger(folder)
    for number in range(first, first + 100_000):
        made.evaluated(OWN, f"p{number}", 10, number % 10)
        os.write(told, _TOLD.pack(number))


def _host(temporary: Path, folder: Path, first: int, told: int) -> None:
    """Be a host: this process, and another that it starts, count the same prompts."""
    os.setpgid(0, 0)
    temporary.mkdir(exist_ok=True)
    tempfile.tempdir = str(temporary)
    for _ in range(_PROCESSES - 1):
        if not os.fork():
            break
    _count(folder, first, told)


def _unite_for_ever(folder: Path) -> None:
    os.setpgid(0, 0)
    while True:
        with suppress(LedgerError):
            for group in by_set(sorted(folder.glob("*.jsonl")), LedgerFiles()):
                unite(group)
        time.sleep(0.001)


def _kill(process: ForkProcess) -> None:
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)  # if it was not yet a group
    process.join()


@pytest.mark.proof
@pytest.mark.parametrize("united", [False, True], ids=["written", "written and united"])
def test_what_two_hosts_have_counted_stays_whoever_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, united: bool
) -> None:
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "yes")
    folder = tmp_path / "ledger"
    context = multiprocessing.get_context("fork")
    chance = random.Random(20)
    counted: set[int] = set()
    kills, rounds = 0, scaled(200, 12)
    for _ in range(rounds):
        begun = max(0, max(counted, default=0) - chance.randrange(10))
        hosts, pipes = [], []
        for name in ("one host", "another host"):
            here, there = os.pipe()
            # What one host has counted the other finds, or counts too.
            host = context.Process(target=_host, args=(tmp_path / name, folder, begun, there))
            host.start()
            os.close(there)
            hosts.append(host)
            pipes.append(here)
        others = [context.Process(target=_unite_for_ever, args=(folder,))] if united else []
        for other in others:
            other.start()
        told = b""
        for pipe in pipes:
            for _ in range(chance.randrange(40)):
                told += os.read(pipe, _TOLD.size)
        time.sleep(chance.random() * 0.01)
        for process in chance.sample([*hosts, *others], len(hosts) + len(others)):
            _kill(process)
            time.sleep(chance.random() * 0.005)
        kills += _PROCESSES * len(hosts)
        for pipe in pipes:
            with os.fdopen(pipe, "rb") as rest:
                told += rest.read()
        counted |= {number for (number,) in _TOLD.iter_unpack(told)}
        for path in folder.glob("*.jsonl"):
            for line in path.read_bytes().split(b"\n")[:-1]:
                json.loads(line)
        known = ledger(folder).tries()
        assert known >= tries(counted)
        assert len(known) <= len(counted) + kills  # each may have died before it could tell
    if united:
        for group in by_set(sorted(folder.glob("*.jsonl")), LedgerFiles()):
            unite(group)
        (path,) = folder.glob("*.jsonl")
        found = [row["prompt"] for row in rows(path, "prompt")]
        assert len(found) == len(set(found)) == len(known)
        assert ledger(folder).tries() == known
    else:
        assert len(list(folder.glob("*.jsonl"))) > rounds  # so in many of them several wrote

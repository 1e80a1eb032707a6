"""`maxrandom shards`, `run-shard` and `join`: a run in parts, for schedulers of any kind."""

from __future__ import annotations

import json
import os
import sys
import uuid
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pytest_maxrandom.ci.process import run_pytest
from pytest_maxrandom.claims.session import results_file
from pytest_maxrandom.claims.shards import Shard, Work, joined_results, one_arithmetic, write_joined
from pytest_maxrandom.commands import add_command, json_text, suites_in
from pytest_maxrandom.errors import ShardError
from pytest_maxrandom.models.base import EngineName, Resources
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.sweeps.store import Store

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import Fingerprint

_MANIFEST = "shards.json"
_INTERRUPTED = 130


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the commands and their arguments."""
    cut = add_command(
        commands,
        "shards",
        _cut,
        "cut a run into parts for a cluster",
        "Cut the prompts of suites into parts that any scheduler can run, each in a "
        "process of its own. No model is loaded.",
    )
    cut.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="SUITE",
        help="a suite, or a folder to search for suites",
    )
    cut.add_argument("--into", type=int, required=True, metavar="N", help="number of parts")
    cut.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder that all machines can reach"
    )
    cut.add_argument(
        "--engine",
        choices=get_args(EngineName),
        default="auto",
        help="how choices are scored; see --maxrandom-engine of pytest",
    )
    one = add_command(
        commands,
        "run-shard",
        _run,
        "run one part",
        "Run one part, or the rest of it if it was interrupted. Its results and a "
        "ledger of its tries go into a folder of its own.",
    )
    one.add_argument("folder", type=Path, metavar="DIR", help="folder that `maxrandom shards` made")
    one.add_argument("number", type=int, metavar="I", help="number of the part, from 1")
    one.add_argument(
        "--batch-tokens", type=int, metavar="N", help="see --maxrandom-batch-tokens of pytest"
    )
    together = add_command(
        commands,
        "join",
        _join,
        "judge what all parts found",
        "Join all parts and let pytest judge the suites from their results. If a part "
        "is missing or stale, the command names it and judges nothing.",
        "The exit code is pytest's, or 2 if a part is missing.",
    )
    together.add_argument(
        "folder", type=Path, metavar="DIR", help="folder that `maxrandom shards` made"
    )
    together.add_argument(
        "arguments",
        nargs="*",
        metavar="ARGUMENT",
        help="arguments for pytest after --, such as -- -q",
    )


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What is cut into number of parts."""

    suites: list[str]
    """Relative to the folder, which hosts may know by different names."""
    into: int
    engine: EngineName
    work: str
    """Digest of all that the parts compute."""

    @classmethod
    def read(cls, folder: Path) -> _Manifest:
        """Read the manifest in a folder, which must have one."""
        file = folder / _MANIFEST
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(said, dict) or said.keys() != {each.name for each in fields(cls)}:
                raise ValueError("it has other keys")
            return cls(**said)
        except (OSError, ValueError) as error:
            raise ShardError(
                f"{file} cannot be read ({error}); expected what `maxrandom shards SUITE --into N "
                f"--out {folder}` writes"
            ) from error

    def paths(self, folder: Path) -> list[Path]:
        """Return where the suites are."""
        return [Path(os.path.normpath(folder / suite)) for suite in self.suites]


def _work(suites: list[Path], engine: EngineName, batch_tokens: int | None = None) -> Work:
    pool = ModelPool(Resources(engine=engine, batch_tokens=batch_tokens))
    claims = [claim for suite in suites for claim in sweeps_of(plan_file(suite, pool.backends))]
    return Work(claims, pool, engine)


def _known(folder: Path, manifest: _Manifest, batch_tokens: int | None = None) -> Work:
    """Return the work as it is now, which must be what was cut."""
    work = _work(manifest.paths(folder), manifest.engine, batch_tokens)
    if work.digest != manifest.work:
        suites = " ".join(map(str, manifest.paths(folder)))
        raise ShardError(
            f"suites, data or models have changed since {folder} was made; run `maxrandom shards "
            f"{suites} --into {manifest.into} --out {folder}` again"
        )
    return work


def _cut(options: argparse.Namespace) -> str:
    """Write the manifest, and tell what the parts are."""
    if options.into < 1:
        raise ValueError(f"--into: found {options.into}, expected a whole number from 1 on")
    suites = suites_in(options.paths)
    work = _work(suites, options.engine)
    if options.into > work.jobs:
        raise ValueError(
            f"--into: found {options.into}, expected at most {count(work.jobs)}, the number of "
            "prompts that the suites run through models"
        )
    options.out.mkdir(parents=True, exist_ok=True)
    there = options.out.absolute()
    named = [os.path.relpath(suite.absolute(), there) for suite in suites]
    manifest = asdict(_Manifest(named, options.into, options.engine, work.digest))
    (options.out / _MANIFEST).write_text(json_text(manifest) + "\n", encoding="utf-8")
    return (
        f"{count(work.jobs)} prompts in {options.into} parts; run `maxrandom run-shard "
        f"{options.out} I` for I = 1 ... {options.into}, then `maxrandom join {options.out}`"
    )


def _run(options: argparse.Namespace) -> str:
    """Run one part; `options.status` is left as 130 if it is interrupted."""
    folder, number = options.folder, options.number
    manifest = _Manifest.read(folder)
    if not 1 <= number <= manifest.into:
        raise ShardError(f"I: found {number}, expected a whole number from 1 to {manifest.into}")
    work = _known(folder, manifest, options.batch_tokens)
    parts = work.shard(number, manifest.into)
    name = f"shard {number} of {manifest.into}"

    def progress(claim: PlannedClaim, done: int, total: int) -> None:
        print(f"{name}: {claim.name}: {done} of {total} prompts", file=sys.stderr, flush=True)

    try:
        problems = Shard(folder, number).compute(work, parts, uuid.uuid4().hex, progress)
    except KeyboardInterrupt:
        options.status = _INTERRUPTED
        return (
            f"{name} was interrupted; its results so far are kept, and the same command continues"
        )
    done = sum(len(jobs) for _, jobs in parts)
    return "\n".join(
        [f"{name}: {count(done)} prompts done", *(worded(each).text for each in problems)]
    )


def _join(options: argparse.Namespace) -> str:
    """Put the parts together and run pytest; its exit code is left in `options.status`."""
    folder = options.folder
    manifest = _Manifest.read(folder)
    work = _known(folder, manifest)
    numbers = range(1, manifest.into + 1)
    finished, missing = {}, []
    for number in numbers:
        try:
            finished[number] = Shard(folder, number).finished(work)
        except ShardError as error:
            missing.append(str(error))
    if missing:
        raise ShardError(
            "\n".join([f"{len(missing)} of {manifest.into} parts are missing", *missing])
        )
    arithmetic = one_arithmetic(finished)

    stores: dict[Path, Store] = {}
    served: dict[str, Fingerprint] = {}

    def store(claim: PlannedClaim) -> Store:
        file = results_file(joined_results(folder), simulated=claim.simulated)
        if file not in stores:
            stores[file] = Store(file)
        return stores[file]

    for number in numbers:
        parts = work.shard(number, manifest.into)
        Shard(folder, number).copy(work, parts, arithmetic, served, store)
    for each in stores.values():
        each.close()
    write_joined(folder, arithmetic)
    arguments = [f"--maxrandom-shards={folder}", f"--maxrandom-engine={manifest.engine}"]
    words = [*arguments, *options.arguments, *map(str, manifest.paths(folder))]
    options.status = run_pytest(words).code
    return ""

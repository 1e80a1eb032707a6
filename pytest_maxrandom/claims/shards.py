"""The sweeps of suites in parts that need nothing of each other, so that any scheduler runs them.

A shard is a run of prompts. What its process finds stands in a folder of its own, so hosts that
share a file system share no file that two of them write.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.counting import count_prompt, subject_of
from pytest_maxrandom.claims.servers import check_server, fingerprint_of
from pytest_maxrandom.errors import ShardError
from pytest_maxrandom.ledger import FOLDER, SIMULATED
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.set_ledger import SetLedger
from pytest_maxrandom.record import Arithmetic, Fingerprint, Remark
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.models.base import EngineName
    from pytest_maxrandom.models.registry import ModelPool

    Part = tuple[PlannedClaim, list[Job]]
    Progress = Callable[[PlannedClaim, int, int], None]

_FINISHED = "shard.json"
_RESULTS = "results.db"
_JOINED = "joined"
_ARITHMETIC = "arithmetic.json"


class Work:
    """All prompts of some suites with the examples that each is scored on, no work twice.

    Raises
    ------
    ModelError
        If a model's files cannot be read.
    """

    def __init__(self, claims: Iterable[PlannedClaim], pool: ModelPool, engine: EngineName) -> None:
        self.pool, self.engine = pool, engine
        todo: list[tuple[PlannedClaim, Job]] = []
        known: dict[tuple[str, ...], None] = {}
        for claim in claims:
            model = pool.identity(claim.located).digest
            for job in claim.jobs:
                key = model, job.task, job.prompt.digest, job.stored_as
                if key not in known:
                    known[key] = None
                    todo.append((claim, job))
        self.digest = digest(engine, *(part for key in known for part in key))
        """SHA-256 (hex) of all of it: examples, prompts, models' files and the engine."""
        places: dict[tuple[str, ...], int] = {}
        # What needs the same model comes together, so that a shard loads as few as can be.
        self._todo = sorted(
            todo,
            key=lambda one: places.setdefault(one[0].located.key, len(places)),
        )

    @property
    def jobs(self) -> int:
        """Prompts in all."""
        return len(self._todo)

    def shard(self, number: int, into: int) -> list[Part]:
        """Return one of so many shards, which score about as many examples each.

        `number` is from 1 on.
        """
        whole = sum(len(job.examples) for _, job in self._todo)
        done, own = 0, []
        for claim, job in self._todo:
            if done * into // whole == number - 1:
                own.append((claim, job))
            done += len(job.examples)
        return [
            (claims[0][0], [job for _, job in claims])
            for claims in (list(same) for _, same in groupby(own, key=itemgetter(0)))
        ]

    def cache(
        self, claim: PlannedClaim, store: Store, arithmetic: Arithmetic | None = None
    ) -> Cache:
        """Return what a store has of a claim's model."""
        identity = self.pool.identity(claim.located)
        return Cache(store, identity.digest, arithmetic or identity.arithmetic, self.engine)


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard's folder."""

    folder: Path
    number: int
    """From 1."""

    @property
    def _place(self) -> Path:
        return self.folder / f"shard-{self.number}"

    def compute(
        self,
        work: Work,
        parts: Sequence[Part],
        run: str,
        progress: Progress,
    ) -> list[Remark]:
        """Compute what is missing, and write down that nothing is.

        Each prompt is counted in a ledger in the shard's folder and stored as soon as it is done.
        Return what is wrong with the shard's files. `run` names the run in the ledger. `progress`
        is called with a claim, how many of its prompts in this shard are done, and how many there
        are.

        Raises
        ------
        MaxRandomError
            If a model cannot be loaded, or a prompt not be scored.
        ShardError
            If results could not be kept.
        """
        store = Store(self._place / _RESULTS, shared=True)
        computed: dict[str, Any] = {}
        problems: list[Remark] = []
        files = LedgerFiles()
        for claim, jobs in parts:
            problems += self._sweep(work, claim, jobs, run, store, files, progress)
            # Loading the model tells better than what was foretold.
            found = work.cache(claim, store)
            computed[found.model_digest] = asdict(found.arithmetic)
            if len(found.read(jobs)) < len(jobs):
                raise ShardError(_unkept(self._place, store))
        store.close()
        _write(
            self._place / _FINISHED,
            {"work": work.digest, "shard": self.number, "arithmetic": computed},
        )
        return list(dict.fromkeys(problems))

    def _sweep(
        self,
        work: Work,
        claim: PlannedClaim,
        jobs: Sequence[Job],
        run: str,
        store: Store,
        files: LedgerFiles,
        progress: Progress,
    ) -> list[Remark]:
        folder = self._place / (SIMULATED if claim.simulated else FOLDER)
        condition, subject = claim.condition, subject_of(claim)
        examples = condition.prompt_set.validation
        ledger = SetLedger(folder, run, condition.task.name, examples, files=files)
        generates = SCORERS[claim.suite.scoring].generates
        check_server(claim, work.pool, ledger, subject)
        run_sweep(
            jobs,
            LocalExecutor(lambda: work.pool.get(claim.located, generates=generates)),
            lambda done, total, _: progress(claim, done, total),
            cache=replace(work.cache(claim, store), fingerprint=fingerprint_of(claim, work.pool)),
            finished=lambda one: count_prompt(ledger, subject, one),
        )
        return ledger.problems

    def finished(self, work: Work) -> dict[str, Arithmetic]:
        """Return what computed each model, by the model's digest.

        Raises
        ------
        ShardError
            If the shard was not run to its end, or it was another work.
        """
        again = f"run `maxrandom run-shard {self.folder} {self.number}`"
        file = self._place / _FINISHED
        try:
            manifest = json.loads(file.read_text(encoding="utf-8"))
            arithmetic = {name: Arithmetic(**one) for name, one in manifest["arithmetic"].items()}
        except FileNotFoundError:
            begun = (self._place / _RESULTS).exists()
            what = "is not finished" if begun else "was not run"
            raise ShardError(f"shard {self.number} {what}; {again}") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ShardError(
                f"shard {self.number}: {file} cannot be read ({error}); {again}"
            ) from error
        if manifest.get("work") != work.digest:
            raise ShardError(
                f"shard {self.number} is stale: suites, data or models have changed since it was "
                f"run; {again}"
            )
        return arithmetic

    def copy(
        self,
        work: Work,
        parts: Sequence[Part],
        arithmetic: Mapping[str, Arithmetic],
        served: dict[str, Fingerprint],
        into: Callable[[PlannedClaim], Store],
    ) -> None:
        """Copy all results of the shard.

        Parameters
        ----------
        arithmetic : mapping
            What computed each model, by the model's digest.
        served : dict
            By what each model behind an address is known in the shards before, by the model's
            digest; what this one has is added.
        into : callable
            Returns the store of a claim's results.

        Raises
        ------
        ShardError
            If one is missing, cannot be kept, or is of another model than that of the shards
            before.
        """
        store = Store(self._place / _RESULTS, shared=True)
        for claim, jobs in parts:
            own = arithmetic.get(work.cache(claim, store).model_digest)
            read = {} if own is None else work.cache(claim, store, own).read(jobs)
            if len(read) < len(jobs):
                raise ShardError(
                    f"shard {self.number} lacks {len(jobs) - len(read)} of {len(jobs)} prompts of "
                    f"{claim.name}; run `maxrandom run-shard {self.folder} {self.number}`"
                )
            target = work.cache(claim, into(claim), own)
            for job in jobs:
                by = read[job.number].cost.fingerprint
                first = served.setdefault(target.model_digest, by) if by else None
                if by and first and (wrong := first.refusal(by, "another shard has answers of")):
                    raise ShardError(f"shard {self.number}: {wrong}")
                target.write(job, read[job.number])
            if len(target.read(jobs)) < len(jobs):
                raise ShardError(_unkept(target.store.path.parent, target.store))
        store.close()


def _unkept(folder: Path, store: Store) -> str:
    why = "; ".join(str(each.values.get("why", "")) for each in store.messages) or "no reason known"
    return f"the results in {folder} could not be saved: {why}; make room there, and run this again"


def one_arithmetic(found: Mapping[int, Mapping[str, Arithmetic]]) -> dict[str, Arithmetic]:
    """Return what computed each model, if that is the same in all shards.

    `found` has by the shard's number, and then by the model's digest, what computed it there.

    Raises
    ------
    ShardError
        If it is not: numbers of two processors are no one sweep.
    """
    first: dict[str, tuple[int, Arithmetic]] = {}
    for number, models in found.items():
        for model, arithmetic in models.items():
            one, other = first.setdefault(model, (number, arithmetic))
            if other != arithmetic:
                raise ShardError(
                    f"shard {number} was computed on {arithmetic.shown}, shard {one} on "
                    f"{other.shown}, and their numbers differ in rounding; run one of them again "
                    "on the same kind of machine"
                )
    return {model: arithmetic for model, (_, arithmetic) in first.items()}


def write_joined(folder: Path, arithmetic: Mapping[str, Arithmetic]) -> None:
    """Write down what computed the results that are joined."""
    said = {model: asdict(one) for model, one in arithmetic.items()}
    _write(folder / _JOINED / _ARITHMETIC, said)


def _write(file: Path, said: object) -> None:
    """Write a file as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    part.replace(file)


def joined(folder: Path) -> tuple[Path, dict[str, Arithmetic]]:
    """Return the store of joined shards, and what computed each model, by the model's digest.

    Raises
    ------
    ShardError
        If no shards were joined there.
    """
    file = folder / _JOINED / _ARITHMETIC
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        found = {model: Arithmetic(**one) for model, one in said.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ShardError(
            f"{folder} holds no joined shards ({error}); run `maxrandom join {folder}`"
        ) from error
    return joined_results(folder), found


def joined_results(folder: Path) -> Path:
    """Return the file of what all shards computed."""
    return folder / _JOINED / _RESULTS

"""Files of the ledger summarized and checked, and the looks in them, without model or suite."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.files import lines_of, named_in, read_file, rows_of, wrong_sets
from pytest_maxrandom.ledger.folder import has_one_writer, ledger_files
from pytest_maxrandom.ledger.lines import (
    CUT,
    ClaimKey,
    TriesOfClaim,
    Try,
    linked,
    related,
    set_digest,
)
from pytest_maxrandom.ledger.outlines import Outline
from pytest_maxrandom.ledger.questions import explained
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.ledger.files import LedgerFile
    from pytest_maxrandom.ledger.lines import Named
    from pytest_maxrandom.ledger.opened import LedgerFiles

_MORE = (0, 10, 100, 1000)
"""Numbers of further prompts for which the baseline is shown."""
_CUT_BESIDE = (
    "the last line was cut off, or is still being written; `maxrandom ledger unite` leaves it out"
)


@dataclass(frozen=True)
class IncumbentSummary:
    """An incumbent that looks at a claim compared prompts with."""

    prompt: str
    model: str
    """Digests; that of the model is empty for the claim's own."""
    t: int
    """The greatest t that they counted."""


@dataclass(frozen=True)
class ClaimSummary:
    """What the files of a set say of a claim."""

    model: str
    shots: int
    t: int
    """Its tries on this set, and on those that are the same, changed a little."""
    t_in_this_file: int
    """Those on this set under this name."""
    looks: int
    t_looked_at: int
    """The greatest t that a look at it counted; 0 without any. A budget is more than was tried."""
    n: int
    best_correct: int | None
    """Examples and right answers of the highest accuracy; None where no line says any yet."""
    best_accuracy: float | None
    max_random_baseline: dict[str, float]
    """By the number of further prompts."""
    incumbents: list[IncumbentSummary]
    """In the order of the looks; t goes on from one to the next."""

    @property
    def name(self) -> str:
        """The claim, for a person."""
        return f"{self.model} {self.shots}-shot"


@dataclass(frozen=True)
class FileSummary:
    """What the files of a validation set say of it."""

    path: str
    """The first one, of several that have one writer each."""
    task: str
    examples: int
    standard_baseline: float
    t: int
    """Tries of any claim, on this set and on those that are the same."""
    claims: list[ClaimSummary]
    related: dict[str, int]
    """File of a set that is the same to the number of examples that it shares."""
    openings: dict[str, int]
    """Digest of a test set to the number of its openings."""
    recorded: dict[str, tuple[int, int]]
    """Claim about recorded results to the number of different answers that were looked at, and to
    how often such were compared with an incumbent."""


def mistakes(path: Path) -> list[str]:
    """Return all that is wrong with a file, each with its line, in their order."""
    sets = {name: len(examples) for name, examples in Outline.of_lines(lines_of(path)).sets.items()}
    problems, rows = list[tuple[int, str]](), False
    for number, line in read_file(path):
        if isinstance(line, str):
            problems.append((number, _CUT_BESIDE if line == CUT and has_one_writer(path) else line))
            continue
        rows = True
        if wrong := _mismatch(line, sets):
            problems.append((number, wrong))
    if rows and len(sets) != 1:
        problems.append((1, wrong_sets(len(sets))))
    return [f"{path}:{number}: {text}" for number, text in sorted(problems)]


def _mismatch(row: Row, sets: dict[str, int]) -> str:
    """Say where a line contradicts its own examples, or those of its file."""
    kind = row["kind"]
    if kind in ("set", "test") and row[kind] != (digest := set_digest(row["examples"])):
        return (
            f"found the digest {row[kind][:12]}, but the examples of the line give {digest[:12]}; "
            "restore the line from version control"
        )
    if kind in ("reworded", "apart") and sets and row["set"] not in sets:
        return f"found the set {row['set'][:12]}; move the line to the file of that set"
    if kind == "prompt" and sets:
        if row["task_digest"] not in sets:
            names = ", ".join(name[:12] for name in sets)
            return (
                f"found a prompt on the set {row['task_digest'][:12]}, expected {names}; move the "
                "line to the file of its set"
            )
        if row["n"] > (examples := sets[row["task_digest"]]):
            return (
                f"found n = {row['n']}, expected at most the {examples} examples of the set; "
                "restore the line from version control"
            )
    return ""


def summary(paths: Sequence[Path], opened: LedgerFiles) -> FileSummary:
    """Summarize the files of one set, and what other files of the folder count for the same claims.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    own = list(map(opened, paths))
    task, sizes = paths[0].stem, Counter[str]()
    best: dict[ClaimKey, tuple[float, int, int]] = {}  # accuracy (-1: not told), right, n
    beaten: dict[ClaimKey, list[tuple[str, Named, int]]] = {}
    for row in (row for path in paths for row in rows_of(path)):
        if row["kind"] == "set":
            task, sizes = row["task"], Counter(row["chances"])
        elif row["kind"] == "prompt":
            claim = ClaimKey(row["model"], row["shots"])
            told = -row["n"] if row["correct"] is None else row["correct"]
            reached = (told / row["n"], told, row["n"])
            best[claim] = max(best.get(claim, reached), reached)
        elif row["kind"] == "look" and "incumbent" in row:
            look = row["when"], named_in(row), row["t"]
            beaten.setdefault(ClaimKey(row["model"], row["shots"]), []).append(look)
    chances = sorted(Fraction(chance) for chance in sizes.elements())
    own_set = next(iter(own[0].sets.values()), ())
    near = opened.near(paths[0].parent, own_set)
    sets = {
        file: examples for file in near if file.path not in paths for examples in file.sets.values()
    }
    # About the same set, changed a little.
    others = related(sets, own_set, explained([*near, *own]))
    for file in others:
        file.check()
    files = [*own, *others]
    recorded = {
        claim: (len({look[:2] for look in found}), len({look for look in found if look[2]}))
        for file in own
        for claim, found in sorted(file.answered.items())
        if claim not in best
    }
    openings: dict[str, set[Try]] = {}
    for test, tries in ((test, tries) for one in own for test, tries in one.openings.items()):
        openings.setdefault(test, set()).update(tries)
    return FileSummary(
        path=str(paths[0]),
        task=task,
        examples=len(chances),
        standard_baseline=float(sum(chances) / max(1, len(chances))),
        t=len(set().union(*(tries for each in files for tries in each.tries.values()))),
        claims=[
            _claim_summary(each, best[each], own, files, chances, beaten.get(each, []))
            for each in sorted(best)
        ],
        related={str(other.path): common for other, common in others.items()},
        openings={test: len(tries) for test, tries in sorted(openings.items())},
        recorded={f"{claim.model}, {claim.shots} shots": of for claim, of in recorded.items()},
    )


def _claim_summary(
    claim: ClaimKey,
    best: tuple[float, int, int],
    own: Sequence[LedgerFile],
    files: Sequence[LedgerFile],
    chances: list[Fraction],
    beaten: list[tuple[str, Named, int]],
) -> ClaimSummary:
    incumbents: dict[Named, int] = {}
    for _, incumbent, counted in sorted(beaten):
        incumbents[incumbent] = max(counted, incumbents.get(incumbent, 0))
    looks = {name: look.t for file in files for name, look in file.looks.get(claim, {}).items()}
    tries = (
        TriesOfClaim(key, tries, file.models[key])
        for file in files
        for key, tries in file.tries.items()
    )
    t = len(linked(tries, claim, set()))
    accuracy, correct, n = best
    # Prompts that leave out their own demonstrations have fewer examples than the set; which ones
    # is not known here, so each is given the mean chance.
    mean = sum(chances, Fraction()) / len(chances)
    chance = chances if n == len(chances) else [mean] * n
    baseline = MaxRandomBaseline(n, chance, t)
    return ClaimSummary(
        model=claim.model,
        shots=claim.shots,
        t=t,
        t_in_this_file=len(set().union(*(file.tries.get(claim, ()) for file in own))),
        looks=len(looks),
        t_looked_at=max(looks.values(), default=0),
        n=n,
        best_correct=None if correct < 0 else correct,
        best_accuracy=None if correct < 0 else accuracy,
        max_random_baseline={
            str(more): baseline.with_t(t + more).expected_accuracy for more in _MORE
        },
        incumbents=[IncumbentSummary(*named, t=t) for named, t in incumbents.items()],
    )


@dataclass(frozen=True, slots=True)
class Look:
    """The best of all prompts that were tried for a claim until then."""

    when: str
    """UTC, ISO 8601."""
    beside: str
    """The folder of the suites that the ledger stands beside."""
    task: str
    model: str
    model_digest: str
    quantization: str
    shots: int
    scoring: str
    examples: str
    """Digest of the validation set."""
    chances: dict[str, int]
    """Number of its examples by the chance of one guess: {"1/2": 50}."""
    t: int
    best_correct: int
    n: int
    """Prompts that were counted; right answers of the best one, and its examples."""
    incumbent: str = ""
    """Digest of the prompt that the best one was compared with; empty where it was with none."""


def looks(paths: Iterable[Path]) -> list[Look]:
    """Return the looks in ledger files, beside suites, or below folders; each once.

    Raises
    ------
    LedgerError
        If there is nothing at a path, or a file cannot be read.
    """
    first_looks: dict[tuple[str, str], Look] = {}
    for file in dict.fromkeys(file for path in paths for file in ledger_files(path)):
        rows = list(rows_of(file))
        beside = file.absolute().parent.parent.as_posix()
        for about in (row for row in rows if row["kind"] == "set"):
            own = {"task": about["task"], "examples": about["set"], "chances": about["chances"]}
            for row in (row for row in rows if row["kind"] == "look"):
                told = {name: row[name] for name in Look.__slots__ if name in row}
                look = Look(beside=beside, **own, **told)
                name = (beside, row["look"])
                if name not in first_looks or look.when < first_looks[name].when:
                    first_looks[name] = look
    return sorted(first_looks.values(), key=lambda look: look.when)

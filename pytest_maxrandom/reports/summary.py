"""A run in words: its records by name and suite, what became of them, and what made its numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import apart, count, equals, p_value
from pytest_maxrandom.record import (
    ALLOWED,
    AMBER,
    FAILING,
    LISTS,
    NOT_COMPARED,
    OUTCOMES,
    REPORTED,
    RESERVED,
    SETTLED,
    SIMULATION,
    UNREADABLE,
    BestModelsRecord,
    ClaimRecord,
    ComparisonRecord,
    ContaminationOverTasks,
    ContaminationRecord,
    Design,
    LabelBiasRecord,
    Outcome,
    Record,
    ReplicatesRecord,
    RunRecord,
    looks_real,
)
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_SKIPPED = 5
"""Skipped claims that have rows in a table of numbers."""
_NOUNS = {
    ClaimRecord: ("claim", "claims"),
    ReplicatesRecord: ("replicated claim", "replicated claims"),
    LabelBiasRecord: ("label-bias check", "label-bias checks"),
    ComparisonRecord: ("comparison", "comparisons"),
    BestModelsRecord: ("comparison of all models", "comparisons of all models"),
    ContaminationRecord: ("contamination check", "contamination checks"),
}


def records(run: RunRecord) -> list[Record]:
    """List all that was tested: the claims, and the checks that go with them."""
    return [*run.claims, *designs(run)]


def designs(run: RunRecord) -> list[Design]:
    """List what was tested besides the claims."""
    return [record for name in LISTS if name != "claims" for record in getattr(run, name)]


def simulated(run: RunRecord) -> str:
    """Say how many results are made up by a rule; empty if none is."""
    made_up = [record.simulated for record in records(run)]
    said = "simulated: the answers were made up by a rule, and say nothing of any real model"
    return _so_many(made_up, "result is", "results are", said)


def unverified(run: RunRecord) -> str:
    """Say how many claims rest on files of a kind that nobody verified; empty if none does."""
    resting = [any(note.kind == "unverified" for note in claim.notes) for claim in run.claims]
    said = "on files that were loaded in a way whose numbers were never verified (unverified: true)"
    return _so_many(resting, "claim rests", "claims rest", said)


def _so_many(are: list[bool], one: str, more: str, said: str) -> str:
    """Say something of those that are so; nothing where none is."""
    noun, _, verb = more.partition(" ")
    if sum(are) == 1:
        verb = one.partition(" ")[2]
    which = f"{count(sum(are))} of {count(len(are))} {noun} {verb}"
    if all(are):
        which = f"All {more}" if len(are) > 1 else f"The {one}"
    return f"{which} {said}" if any(are) else ""


def label(record: Record) -> str:
    """Name a record without its file: ``task[model-quantization-kshot]``."""
    return record.id.partition("::")[2] or record.id


def _path(record: Record) -> str:
    return record.id.partition("::")[0]


def files(run: RunRecord) -> dict[str, str]:
    """Tell records of the same name apart by their files.

    By its id a record has the shortest end of its file's path that no other file of a record of the
    same name ends with; it is empty where the name is enough.
    """
    alike: dict[str, dict[str, list[str]]] = {}
    for record in records(run):
        alike.setdefault(label(record), {}).setdefault(_path(record), []).append(record.id)
    return {
        name: end
        for paths in alike.values()
        for end, names in zip(ends(list(paths)), paths.values(), strict=True)
        for name in names
    }


def names(run: RunRecord) -> dict[str, str]:
    """Name each record, by its id, as shortly as tells it from all others of the run."""
    known_files = files(run)
    return {
        record.id: clauses(known_files[record.id], label(record), sep="::")
        for record in records(run)
    }


def variants(run: RunRecord) -> dict[str, str]:
    """Tell claims apart whose task, file, model and shots are the same: arms of one model.

    By its id a claim has what its name has in brackets, without the shots; it is empty where no
    other claim is alike.
    """
    where = files(run)
    alike: dict[tuple[str, ...], list[ClaimRecord]] = {}
    for claim in run.claims:
        key = (claim.task, where[claim.id], model_name(claim), shots(claim))
        alike.setdefault(key, []).append(claim)
    arms = {}
    for group in alike.values():
        several = len({label(each) for each in group}) > 1
        for claim in group:
            inside = label(claim).rpartition("[")[2].removesuffix("]")
            arms[claim.id] = inside.removesuffix(f"-{claim.shots}shot") if several else ""
    return arms


def model_name(record: ClaimRecord | LabelBiasRecord) -> str:
    """Name the model with its quantization, if any: ``OLMo-7B (nf4)``; empty if not stated.

    What is simulated never has the name of a real model.
    """
    if record.simulated and looks_real(record.model):
        return SIMULATION
    stated = record.model and record.quantization not in ("", "none")
    return f"{record.model} ({record.quantization})" if stated else record.model


def only_model(run: RunRecord) -> str:
    """Name the model of all claims; empty where there are several, or several arms of one."""
    known = {model_name(claim) for claim in run.claims}
    return "" if len(known) != 1 or any(variants(run).values()) else known.pop()


def shots(claim: ClaimRecord) -> str:
    """Write the number of demonstrations; empty if a hand-written claim does not state it."""
    return "" if claim.backend == "numbers" and not claim.shots else str(claim.shots)


def asserts(record: Record) -> bool:
    """Tell whether anything is claimed; a check for contamination always claims that there is none.

    Of a replicated claim, whose parts are the claim's own, it is the share of replicates.
    """
    match record:
        case ContaminationRecord():
            return True
        case ReplicatesRecord():
            return "in_replicates" in record.asserted
        case ComparisonRecord():
            return not record.asserted.keys() <= {"level"}
        case _:
            return bool(record.asserted)


def became(record: Record) -> Outcome | str | None:
    """Return what became of a record, the key of its sign and word; of a pass its kind."""
    if record.outcome != "passed":
        return record.outcome
    if not asserts(record):
        return REPORTED
    on = record.passes_on if isinstance(record, ClaimRecord) else None
    return on or record.outcome


def tally(run: RunRecord) -> str:
    """Count the records of each kind by what became of them, what fails first.

    That is ``1 of 5 claims fails, 1 was not run, 2 pass, 1 fails as expected``, or ``3 of 3 claims
    pass; 1 of 2 comparisons fails, 1 passes``.
    """
    if not designs(run):
        return _tally(run.claims, ClaimRecord, run.not_run)
    parts = [
        _tally(found, kind)
        for kind in _NOUNS
        if (found := [record for record in records(run) if isinstance(record, kind)])
    ]
    # Of what has no record it is not known what it is.
    return clauses(*parts, run.not_run and f"{count(run.not_run)} {_was_not_run(run.not_run)}")


def _tally(found: Sequence[Record], kind: type[Record], not_run: int = 0) -> str:
    outcomes = Counter(map(became, found))
    reported = outcomes[REPORTED]
    of_claims = kind is ClaimRecord
    noun = ("result", "results") if of_claims else _NOUNS[kind]
    phrase = f"{count(reported)} {noun[reported != 1]} reported"
    total = len(found) + not_run - reported
    if reported and not total:
        return f"{phrase}, nothing claimed" if of_claims else phrase
    parts = [
        (number, shown.one if number == 1 else shown.more)
        for outcome, shown in OUTCOMES.items()
        if outcome != REPORTED and (number := outcomes[outcome])
    ]
    if not_run:
        parts.insert(sum(outcomes[each] > 0 for each in FAILING), (not_run, _was_not_run(not_run)))
    if not parts:
        return "no claim was tested"
    (number, verb), *others = parts
    return clauses(
        f"{count(number)} of {count(total)} {_NOUNS[kind][total != 1]} {verb}",
        *(f"{count(number)} {verb}" for number, verb in others),
        reported and (phrase if of_claims else f"{count(reported)} reported"),
        sep=", ",
    )


def _was_not_run(number: int) -> str:
    return "was not run" if number == 1 else "were not run"


def unread(run: RunRecord) -> str:
    """Say that suites, or records of tests, could not be read, or nothing if all could."""
    mistakes = len(run.broken)
    records = sum(UNREADABLE in mistake for mistake in run.broken)
    kind = "record" if records == mistakes else "suite"
    if mistakes > 1:
        several = f"{kind}s" if records in (0, mistakes) else "suites and records"
        return f"some {several} could not be read ({mistakes} mistakes)"
    return f"1 {kind} could not be read" if mistakes else ""


def leaks(run: RunRecord) -> list[ContaminationOverTasks]:
    """List the checks whose bias is significant over tasks, unless one of them expects that.

    Each of their tasks may be without a finding, and none of its items fails then.
    """
    expected = {_arms(check) for check in run.contamination if check.outcome == "xfailed"}
    return [
        found
        for found in run.contamination_over_tasks
        if found.finding == "tuned on the text" and _arms(found) not in expected
    ]


def _arms(check: ContaminationRecord | ContaminationOverTasks) -> tuple[str, str, str, str, int]:
    return check.suite, check.base, check.extra, check.test, check.shots


def leaking(run: RunRecord) -> str:
    """Say what is tuned on the scored text over tasks; empty where nothing is."""
    return clauses(
        *(
            f"over {count(found.tasks)} tasks, {found.test} is tuned on the scored text: "
            f"{apart(found.bias)} {found.extra} (p {equals(p_value(found.bias_p))})"
            for found in leaks(run)
        )
    )


def overall(run: RunRecord) -> str:
    """Return what became of a run: failed if a record fails or is missing, else passed.

    It also fails where arms are found to be tuned on the scored text over tasks only, and where it
    is asserted that nothing got worse, and that is not shown.

    Where nothing is claimed, or only checks are left that cannot tell and need not, the run is
    merely reported, or skipped.
    """
    complete = not (run.interrupted or run.not_run or run.broken)
    complete &= not any(each.fails for each in run.reservations)
    complete &= run.regressions is None or run.regressions.met
    ended = set(map(became, records(run)))
    if not complete or ended & set(FAILING) or leaks(run):
        return "failed"
    if ended and not ended & {*SETTLED} - {ALLOWED}:
        return REPORTED if ended & {REPORTED, ALLOWED} else "skipped"
    return "passed"


def symbol(run: RunRecord) -> str:
    """Return the sign of what became of a run; none that is well stands above a reservation."""
    ended = overall(run)
    return AMBER if run.reservations and ended != "failed" else OUTCOMES[ended].sign


def reserved(run: RunRecord) -> str:
    """Count what a gate holds against a run: ``1 claim is gone, 2 were weakened``; or nothing."""
    counts = Counter(each.kind for each in run.reservations)
    parts = [
        f"{count(number)}{{}} {shown.one if number == 1 else shown.more}"
        for kind, shown in RESERVED.items()
        if (number := counts[kind])
    ]
    if not parts:
        return ""
    several = not parts[0].startswith("1{}")
    return ", ".join(parts).replace("{}", " claims" if several else " claim", 1).replace("{}", "")


def not_compared(run: RunRecord) -> str:
    """Say that a gate compared a run with nothing, and why; empty where it did."""
    if run.not_compared is None:
        return ""
    return (
        "The gate compared nothing with a base in git, so what was taken out or weakened is not "
        f"seen: {NOT_COMPARED[run.not_compared]}"
    )


def missing(run: RunRecord) -> str:
    """Say how many of those that were selected have no result; empty where all have one."""
    if not (run.not_run or (run.interrupted and not run.broken)):
        return ""
    one = run.not_run == 1
    return f"{run.not_run:,} {'test has' if one else 'tests have'} no result"


def with_rows(claims: Sequence[ClaimRecord]) -> Sequence[ClaimRecord]:
    """Leave out skipped claims, which have no numbers for a table, where they are many."""
    rest = [claim for claim in claims if claim.outcome != "skipped"]
    return rest if len(claims) - len(rest) > MOST_SKIPPED else claims


def known(values: Iterable[int | None]) -> list[int]:
    """Leave out what was not computed."""
    return [value for value in values if value is not None]


def ends(paths: list[str]) -> list[str]:
    """Return the shortest ends of different paths, of equally many parts, that are different."""
    if len(paths) == 1:
        return [""]
    parts = [path.split("/") for path in paths]
    for length in range(1, max(map(len, parts))):
        found = ["/".join(of_path[-length:]) for of_path in parts]
        if len(set(found)) == len(found):
            return found
    return paths


_OF_MODELS = frozenset({"torch", "transformers", "tokenizers", "bitsandbytes"})
WITHOUT_MODEL = ("recorded", "numbers")
"""Backends of claims on results that were made elsewhere."""


def versions(run: RunRecord) -> dict[str, str]:
    """Return the versions of a run, without libraries that run models where none was run."""
    suites = {claim.suite for claim in run.claims}
    with_model = any(claim.backend not in WITHOUT_MODEL for claim in run.claims)
    # A suite's results are all recorded, or none is; without its claims nothing tells which.
    untold = any(record.suite not in suites for record in designs(run))
    if with_model or untold or not run.claims:
        return dict(run.versions)
    return {name: number for name, number in run.versions.items() if name not in _OF_MODELS}


def by_suite(claims: Iterable[ClaimRecord]) -> dict[str, list[ClaimRecord]]:
    """Group claims by their suites, as far as suites have a task, model and shots in common.

    A suite is named by the shortest end of its path that tells it from the others; the claims of
    all suites that have nothing in common with another one stand together under an empty text.
    """
    known = list(claims)
    about: dict[tuple[str, str, str], set[str]] = {}
    for claim in known:
        about.setdefault((claim.task, model_name(claim), shots(claim)), set()).add(_path(claim))
    alike = {path for paths in about.values() if len(paths) > 1 for path in paths}
    shared = list(dict.fromkeys(path for path in map(_path, known) if path in alike))
    named = dict(zip(shared, ends(shared), strict=True)) if shared else {}
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in known:
        groups.setdefault(named.get(_path(claim), ""), []).append(claim)
    return groups

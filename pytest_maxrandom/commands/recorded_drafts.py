"""A first suite for results that exist: see `maxrandom init --results`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from textwrap import TextWrapper, wrap
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.verdict import COUNTED, EXACT
from pytest_maxrandom.commands import table
from pytest_maxrandom.commands.asked import asked_for
from pytest_maxrandom.commands.drafts import yaml_of
from pytest_maxrandom.errors import KEYS, listed
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.recorded.found import FoundResults, find_results, format_of, name_of
from pytest_maxrandom.recorded.roles import shown
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.suite.recorded import RESULTS, RecordedSuiteSpec, RecordedTaskSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.recorded_claims import RecordedClaim
    from pytest_maxrandom.record import Remark

_BY_NAME = {
    "only_right_and_wrong": COUNTED,
    "answers_not_given": COUNTED,
    "choices_unlisted": COUNTED,
    "not_permutable": COUNTED,
    "only_places": EXACT,
    "questions_not_told": EXACT,
    "open_left_out": EXACT,
}
"""What is claimed by name where the default claim cannot tell, by the reason; of others, such as
scores, only the user knows."""
_EXAMPLES = {"chance": "1/4", "t": "200"}
"""Values that a message shows for keys that are missing."""
_LINES = TextWrapper(80, initial_indent="  ", subsequent_indent="  ")


@dataclass(slots=True)
class RecordedDraft:
    """What a suite of recorded results says, and why."""

    path: Path
    """Where the suite will stand."""
    results: str
    """The results, relative to that."""
    found: FoundResults
    task: dict[str, Any]
    """Keys of each task that somebody gave."""
    suite: dict[str, Any]
    """Keys of the suite that somebody gave."""
    untold: dict[str, Remark] = field(default_factory=dict)
    """By tasks, why a claim on them cannot tell by default."""

    @property
    def is_claimed(self) -> bool:
        """Whether somebody gave what is claimed."""
        return "assert" in self.suite or "assert" in self.task


def recorded_draft(
    path: Path, source: Path, results: str, keys: Mapping[str, Any], model: str | None
) -> RecordedDraft:
    """Look into results, and return what a suite says of them.

    Parameters
    ----------
    path : Path
        Where the suite will stand.
    results : str
        The results in `source`, relative to the suite.
    keys : mapping
        What the user says: keys of `results`, of the task, or of the suite.
    model : str or None
        What the model is called, if the results do not say it.

    Raises
    ------
    ValueError
        With all that is missing, and a line that says it.
    RecordedError
        If the results cannot be read.
    """
    of_task = RecordedTaskSpec.model_fields.keys() - RecordedSuiteSpec.model_fields.keys()
    spec = RESULTS.kind({"format": format_of(source, keys.get("format"))})
    of_results = set() if spec is None else spec.model_fields.keys() - {"path"}
    if isinstance(metric := keys.get("metric"), str) and metric in METRICS:
        of_results -= {"metric"}  # of the samples of lm-eval, which may be called by other names
    stated = {key: value for key, value in keys.items() if key in of_task - {"name"}}
    said = {key: value for key, value in keys.items() if key in of_results - stated.keys()}
    suite = {key: keys[key] for key in keys if key not in {*stated, *said}}
    found = find_results(source, said, stated, model)
    if found.missing:
        raise ValueError(_all_missing(found, source, keys, model))
    return RecordedDraft(path, results, found, stated, suite)


def _all_missing(
    found: FoundResults, source: Path, keys: Mapping[str, Any], model: str | None
) -> str:
    """Say all that is missing, what was found, and which line says it."""
    meant: list[str] = []
    if found.guessed is not None:
        meant = [f"{column} is {role}" for role, column, _ in shown(found.guessed, found.header)]
    command = ["maxrandom", "init", "--results", str(source)]
    command += ["--model", model] if model else []
    command += words_of(keys)
    for key in found.missing:
        command += ["--set", f"{key}={_EXAMPLES.get(key, 'COLUMN')}"]
    seen = None if found.guessed is None else meant
    return f"{source}: {asked_for('a claim', found.missing, seen, found.free, command)}"


def words_of(keys: Mapping[str, Any]) -> list[str]:
    """Write keys as options of a command."""
    return [word for key, value in _flat(keys) for word in ("--set", f"{key}={value}")]


def _flat(keys: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Write keys as `--set` takes them."""
    pairs: list[tuple[str, str]] = []
    for key, value in keys.items():
        place = f"{above}{key}"
        pairs += _flat(value, f"{place}.") if isinstance(value, dict) else [(place, yaml_of(value))]
    return pairs


def recorded_suite_of(draft: RecordedDraft, claims: Sequence[RecordedClaim]) -> str:
    """Write the suite; without claims it has no comments on them."""
    lines = [
        "# Written by `maxrandom init`. Change what is not right, then run:",
        f"#   pytest {shlex.quote(draft.path.as_posix())} --maxrandom-report report.md",
        f"# All keys and their defaults: {KEYS}",
        "models:",
    ]
    answers = draft.found.answers
    tasks = list(dict.fromkeys(each.task for each in answers))
    for model in dict.fromkeys(each.model for each in answers):
        own = {each.task for each in answers if each.model == model}
        lines += [
            f"  - name: {yaml_of(model)}",
            "    backend: recorded",
            *_results(draft),
        ]
        if missing := [task for task in tasks if task not in own]:
            told = f"the results of {model} on {', '.join(missing)} are not there"
            lines.append(f"    if_missing: {yaml_of(told)}")
    lines.append("tasks:")
    for task in tasks:
        lines += _task(draft, task, [each for each in claims if each.task == task])
    lines += [f"{key}: {yaml_of(value)}" for key, value in draft.suite.items()]
    if "assert" not in draft.suite and claims:
        defaults = {
            yaml_of(each.claim.bounds()) for each in claims if each.task not in draft.untold
        }
        lines += [f"# What each claims by default: {each}" for each in sorted(defaults)]
    return "\n".join(lines) + "\n"


def _results(draft: RecordedDraft) -> list[str]:
    """Write where the results are, and why each column has its role."""
    results = draft.found
    lines = ["    results:", f"      path: {yaml_of(draft.results)}"]
    for key, value in results.keys.items():
        if key == "columns":
            continue
        why = f"  # {results.assumed[key]}" if key in results.assumed else ""
        lines.append(f"      {key}: {yaml_of(value)}{why}")
    columns = results.keys.get("columns") or {}
    if columns:
        guessed = results.guessed.columns if results.guessed else {}
        lines.append("      columns:")
        for role, column in columns.items():
            why = f"  # {guessed[role].why}" if role in guessed else ""
            why = why if column else "  # its column holds something else"
            lines.append(f"        {role}: {yaml_of(column)}{why}")
    return lines


def _task(draft: RecordedDraft, task: str, claims: Sequence[RecordedClaim]) -> list[str]:
    lines = [f"  - name: {yaml_of(task)}"]
    lines += [f"    {key}: {yaml_of(value)}" for key, value in draft.task.items()]
    if draft.found.chance is not None and "chance" not in draft.task:
        lines.append(f"    chance: {draft.found.chance}  # {_labels(draft.found)}")
    if task in draft.untold and not draft.is_claimed:
        remark = draft.untold[task]
        why = worded(remark).text
        lines += wrap(why, 92, initial_indent="    # ", subsequent_indent="    # ")
        if remark.kind in _BY_NAME:
            lines.append(f"    assert: {yaml_of(dict(_BY_NAME[remark.kind]))}")
    for claim in claims:
        assert claim.evidence is not None
        null, t = claim.null, claim.evidence.t
        guessers = (
            f"; the best of {count(t)} guessers is expected to reach "
            f"{accuracy(null.max_random_baseline)}"
            if null is not None and null.max_random_baseline is not None
            else ""
        )
        lines.append(
            f"    # {claim.model.test_id}, {claim.shots}-shot: n = {claim.evidence.n}, t = {t}"
            f"{guessers}"
        )
    return lines


def _labels(found: FoundResults) -> str:
    assert found.guessed is not None
    return f"the right answers are {listed(found.guessed.labels)}"


def untold_of(claims: Sequence[RecordedClaim]) -> dict[str, Remark]:
    """Return by tasks why a claim on them cannot tell by default."""
    found: dict[str, Remark] = {}
    for claim in claims:
        if (remark := claim.claim.cannot_tell) is not None:
            found.setdefault(claim.task, remark)
    return found


def summary_of(draft: RecordedDraft) -> str:
    """Say what was found, and why it is taken to be so."""
    results, answers = draft.found, draft.found.answers
    lines = [f"{results.path} holds {_sizes(answers)}:"]
    rows: list[list[str]] = []
    if results.guessed is not None:
        rows += [[f"  {role}", *rest] for role, *rest in shown(results.guessed, results.header)]
    rows += [
        [f"  {key}", yaml_of(results.keys[key]), f"{why}: --set {key}=4"]
        for key, why in results.assumed.items()
    ]
    if results.chance is not None and "chance" not in draft.task:
        rows.append(["  chance", results.chance, f"{_labels(results)}; else --set chance=1/5"])
    if len(answers) == 1 and answers[0].model == name_of(results.path):
        rows.append(["  model", repr(answers[0].model), "after the file: --model NAME"])
    lines += table(rows, left=3).splitlines() if rows else []
    of_prompts = results.guessed is not None and any(
        each.of_prompts for each in results.guessed.columns.values()
    )
    if of_prompts and results.free:
        lines += _LINES.wrap(f"not taken: {listed(results.free)}")
    for task, remark in ({} if draft.is_claimed else draft.untold).items():
        does = "; the suite claims it" if remark.kind in _BY_NAME else ""
        lines += _LINES.wrap(f"{task}: {worded(remark).text}{does}")
    return "\n".join(lines)


def _sizes(answers: Sequence[Answers]) -> str:
    """Say how many sweeps there are, and the size of one."""
    first = answers[0]
    if first.maximum is not None:
        return f"{count(len(answers))} published {'maxima' if answers[1:] else 'maximum'}"
    sweep = f"{count(len(first.prompts))} prompts and {count(len(first.examples))} examples"
    return sweep if len(answers) == 1 else f"{count(len(answers))} sweeps, the first of {sweep}"

"""What `maxrandom tasks` says: a table, and a sentence for each thing that is wrong."""

from __future__ import annotations

import csv as _csv
import io
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.shortcuts import HEURISTICS, OF_OPEN
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.notation import NONE, accuracy, count, p_value, span
from pytest_maxrandom.record import (
    AuditedTask,
    BestGuess,
    Finding,
    HeuristicName,
    RedFlag,
    Remark,
    TaskAudit,
)
from pytest_maxrandom.reports.csv import field
from pytest_maxrandom.reports.layout import table_lines, wrapped
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.red_flags import sentence as flag_sentence
from pytest_maxrandom.reports.remarks import worded as remark_worded
from pytest_maxrandom.reports.sentences import Writer
from pytest_maxrandom.reports.tables import Column, Name, tabulate
from pytest_maxrandom.reports.text import listed, number_of, shorten, some_of, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Place = tuple[str, int | None, str]
    """Path, line and name of a task."""

WIDE = 120
"""Columns of a terminal from which on all is in the table."""
_SHORTEST = 16
_MOST_DROPPED = 4
"""The highest number in `_columns`."""
_MOST_LEFT = 3
"""Files that are no tasks, of which the reason is told."""
_RULES = tuple(name for name in HEURISTICS if name not in OF_OPEN)
_WORDS: dict[HeuristicName, str] = {"most_shared_words": "words"}
_SENTENCES = {
    "majority": "Always saying {answer!r} is right on {correct:,} of {n:,} examples"
    "{passes:passes}.",
    "place": "The right answer is choice {place} of the file in {correct:,} of {n:,} examples"
    "{passes:passes}: prompts of a suite list choices in an order of their own, but other tools "
    "keep the file's.",
    "heuristic": "Always choosing {heuristic:rule} has an accuracy of {rate:accuracy}"
    "{passes:passes}.",
    "contradictory_examples": "{examples:,} of the examples that repeat another one "
    "{examples:has/have} another right answer: {alike[1]!r} contradicts {alike[0]!r}, for "
    "instance.",
    "few_examples": "{n:,} examples are few at {prompts:prompts}: it takes {needs:,} right answers "
    "or more to be better than luck.",
    "unpassable": "No result can pass at {prompts:prompts}: even {n:,} of {n:,} right answers have "
    "a p_max of {p:p}; use more examples or fewer prompts.",
}


def _prompts(prompts: Sequence[int]) -> str:
    return f"t = {listed([count(t) for t in prompts])}"


_WRITER = Writer(
    accuracy=accuracy,
    p=p_value,
    passes=lambda prompts: f", which passes p_max at {_prompts(prompts)}" if prompts else "",
    prompts=_prompts,
    rule=lambda name: HEURISTICS[name].description("in the file"),
)


def worded(task: AuditedTask) -> AuditedTask:
    """Return a task with the sentences of its findings and notes."""
    return replace(
        task,
        findings=[replace(each, text=_sentence(each)) for each in task.findings],
        notes=list(map(remark_worded, task.notes)),
    )


def _sentence(finding: Finding) -> str:
    kind, parameters = finding.kind, finding.parameters
    if kind in _SENTENCES:
        return _WRITER.fill(_SENTENCES[kind], parameters, "")
    if kind in KINDS:
        return flag_sentence(RedFlag(kind, "warn", parameters=parameters))
    return remark_worded(Remark(kind, parameters)).text


def as_json(audit: TaskAudit) -> str:
    """Write all of it, unrounded, as `tasks.schema.json` describes it."""
    return json.dumps(asdict(audit), indent=2)


def as_csv(audit: TaskAudit) -> str:
    """Write a row for each task, unrounded; what is not known is an empty field."""
    made = io.StringIO(newline="")
    rows = [_row(task, audit.prompts) for task in audit.tasks]
    writer = _csv.DictWriter(made, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: field(value) for name, value in row.items()} for row in rows)
    return made.getvalue().rstrip("\n")


def _row(task: AuditedTask, prompts: Sequence[int]) -> dict[str, Any]:
    first = ("name", "path", "line", "format", "n", "examples", "pool")
    row: dict[str, Any] = {name: getattr(task, name) for name in first}
    row |= {
        # As `maxrandom baseline --choices` reads it.
        "choices": ",".join(f"{size}:{many}" for size, many in task.choices.items()),
        "several_right": task.several_right,
        "chance": task.chance,
    }
    for part, names in (
        ("majority", ("answer", "place", "correct", "rate", "p")),
        ("heuristic", ("name", "rate", "p")),
    ):
        row |= {f"{part}_{name}": getattr(getattr(task, part), name, None) for name in names}
    row |= {f"heuristic_{name}": task.heuristics.get(name) for name in _RULES}
    for name in ("duplicates", "contradictory", "clusters", "clusters_stated", "effective_n"):
        row[name] = getattr(task, name)
    of = {each.t: each for each in task.baselines}
    for name in ("expected_maximum", "critical_count", "critical_accuracy", "smallest_p"):
        row |= {f"{name}_{t}": getattr(of.get(t), name, None) for t in prompts}
    return row | {
        "findings": [finding.kind for finding in task.findings],
        "finding_texts": [finding.text for finding in task.findings],
        "notes": [note.text for note in task.notes],
        "problems": task.problems,
    }


def as_markdown(audit: TaskAudit) -> str:
    """Write a table and what is wrong, for a page of its own or a comment."""
    names = _names(audit.tasks)
    shown = [column for column, _ in _columns(audit, names, 80)]
    parts = [MARKDOWN.table(tabulate("tasks", shown, audit.tasks, legend=_legend(audit)))]
    for task, unread, told in _tasks_with_findings(audit.tasks):
        parts.append(MARKDOWN.paragraph(f"{MARKDOWN.code(names[_place(task)])}{unread}"))
        parts.append(MARKDOWN.items(map(MARKDOWN.statistics, told)))
    parts += [MARKDOWN.paragraph(MARKDOWN.plain(line)) for line in _closing(audit)]
    return "".join(parts).rstrip("\n")


def as_text(audit: TaskAudit, width: int) -> str:
    """Write a table that is no wider than a terminal, with what is wrong below it.

    Columns that tell least are left out until it fits; names are shortened.
    """
    names = _names(audit.tasks)
    for dropped in range(_MOST_DROPPED + 1):
        lines = _lines(audit, names, dropped, limit=0)
        room = width - max(map(len, lines)) - len("  ")
        if room >= _SHORTEST:
            break
    lines = _lines(audit, names, dropped, limit=max(room, _SHORTEST))
    lines += ["", *_wrapped(_legend(audit).replace("*", ""), width)]
    for task, unread, told in _tasks_with_findings(audit.tasks):
        lines += ["", *_wrapped(f"{visible(names[_place(task)])}{unread}", width)]
        for sentence in told:
            lines += _wrapped(f"  - {visible(sentence)}", width, "    ")
    lines += ["", *(line for said in _closing(audit) for line in _wrapped(said, width))]
    return "\n".join(lines).rstrip("\n")


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return [line.text for line in wrapped(text, max(width, 40), indent=indent)]


def _lines(audit: TaskAudit, names: Mapping[_Place, str], dropped: int, limit: int) -> list[str]:
    columns = [column for column, drop in _columns(audit, names, limit) if not 0 < drop <= dropped]
    if not limit:  # how wide is all but the names?
        columns = columns[:-1]
    return [line.text for line in table_lines(tabulate("tasks", columns, audit.tasks))]


def _columns(
    audit: TaskAudit, names: Mapping[_Place, str], limit: int
) -> list[tuple[Column[AuditedTask], int]]:
    """Return columns with the step at which a narrow terminal leaves them out; 0 for never."""
    most = max(audit.prompts)
    columns: list[tuple[Column[AuditedTask], int]] = [
        (Column("*n*", "n", "count", brief="n"), 0),
        (Column("choices", lambda task: _span(task.choices), "right", brief="choices"), 0),
        (Column("chance", "chance", "score", brief="chance"), 0),
        (Column("majority", "majority.rate", "score", brief="major-\nity"), 0),
        (Column("best\nheuristic", "heuristic.rate", "score", brief="heuri-\nstic"), 0),
        (Column("which", _rule, brief=" "), 2),
        (Column("copies", "duplicates", "count", brief="copies"), 2),
        (Column("clusters", "clusters", "count", brief="clus-\nters"), 2),
    ]
    for name, write, drop in (
        ("E[max]", lambda one: accuracy(one.expected_maximum), 3),
        ("needs", _needed, 4),
    ):
        for place, t in enumerate(audit.prompts):
            if name == "E[max]" and t == 1 and len(audit.prompts) > 1:
                continue  # it is chance
            heading, brief = f"{name}\n*t* = {t:,}", f"{name}\nt={t:,}"
            written = _of_baseline(write, place)
            column: Column[AuditedTask] = Column(heading, written, "right", brief=brief)
            columns.append((column, 0 if t == most else 1 if t == 1 else drop))

    def named(task: AuditedTask) -> Name:
        name = names[_place(task)]
        return Name(shorten(visible(name), limit) if limit else name, limit or 60)

    return [*columns, (Column("task", named, brief="task", header=True), 0)]


def _span(choices: Mapping[str, int]) -> str:
    return span([int(size) for size in choices]).replace(" to ", "-")


def _rule(task: AuditedTask) -> str:
    return NONE if (rule := task.heuristic) is None else _WORDS.get(rule.name, rule.name)


def _of_baseline(write: Callable[[BestGuess], str], place: int) -> Any:
    return lambda task: write(task.baselines[place]) if task.baselines else NONE


def _needed(baseline: BestGuess) -> str:
    return "never" if baseline.critical_count is None else count(baseline.critical_count)


def _place(task: AuditedTask) -> _Place:
    return task.path, task.line, task.name


def _names(tasks: Sequence[AuditedTask]) -> dict[_Place, str]:
    """Return what tells each task from the others: its name, with its file where names repeat."""
    written = [
        (name, f"{PurePath(task.path).name}::{name}" if task.line else task.path, whole)
        for task in tasks
        for name, whole in [(task.name, f"{task.path}::{task.name}")]
    ]
    times = Counter(name for names in written for name in set(names))
    return {
        _place(task): next((name for name in names if times[name] == 1), names[-1])
        for task, names in zip(tasks, written, strict=True)
    }


def _tasks_with_findings(
    tasks: Sequence[AuditedTask],
) -> Iterator[tuple[AuditedTask, str, list[str]]]:
    """Yield the tasks of which there is something to say, with that."""
    for task in tasks:
        said = list(task.problems)
        if len(task.choices) > 1:
            sizes = [f"{count(many)} with {size}" for size, many in task.choices.items()]
            said.append(f"Examples differ in their number of choices: {listed(sizes)}.")
        said += [finding.text for finding in task.findings]
        if said:
            yield task, ": cannot be read" * bool(task.problems), said


def _legend(audit: TaskAudit) -> str:
    return (
        "majority: always the same answer; heuristic: the best rule that needs no knowledge; "
        "E[max]: what the best of *t* random guessers is expected to reach; needs: right answers "
        f"from which on p_max is at most {audit.alpha:g}."
    )


def _closing(audit: TaskAudit) -> Iterator[str]:
    unread = sum(bool(task.problems) for task in audit.tasks)
    wrong = sum(bool(task.findings) for task in audit.tasks)
    parts = [number_of(len(audit.tasks), "task")]
    parts += [f"something is wrong with {count(wrong)}"] if wrong else []
    parts += [f"{count(unread)} cannot be read"] if unread else []
    yield ", ".join(parts if parts[1:] else [*parts, "nothing wrong was found"])
    if left := audit.left_out:
        files = [f"{PurePath(each.path)} ({each.reason})" for each in left]
        yield visible(f"Files that are no tasks: {some_of(files, _MOST_LEFT, '; ')}")

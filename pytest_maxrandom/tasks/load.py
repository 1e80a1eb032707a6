"""Loading the task that a suite names, and setting its test set aside before all else."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_maxrandom.errors import Problem, SuiteError, quoted
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.host.packages import SOURCES, blamed, load, titled
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.tasks import PoolSpec, TaskSpec, TestSpec, usual_format
from pytest_maxrandom.tasks.bigbench import BigBench
from pytest_maxrandom.tasks.lm_eval import LmEval
from pytest_maxrandom.tasks.reading import Findings, quoting_own
from pytest_maxrandom.tasks.tables import Csv, Hub, Jsonl
from pytest_maxrandom.tasks.task import Example, Layout, Source, Task, Where
from pytest_maxrandom.tasks.whole import checked_task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    _Key: TypeAlias = tuple[str, ...]

T = TypeVar("T")

_ROWS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_OTHER_ENDINGS = {"bigbench": (*_ROWS, ".yaml", ".yml"), "lm_eval": (*_ROWS, ".json")}
"""Endings of files that a format certainly does not read."""

BUILT_IN: Mapping[str, Source[Any]] = {
    "bigbench": BigBench(),
    "jsonl": Jsonl(),
    "csv": Csv(),
    "hub": Hub(),
    "lm_eval": LmEval(),
}


def members(spec: TaskSpec, base: Path, where: Where) -> list[TaskSpec]:
    """Return a spec for each task that one of a suite stands for: mostly itself.

    Raises
    ------
    SuiteError
        If its source cannot say.
    """

    def named(source: Any) -> list[TaskSpec]:
        return list(source.members(spec, base, where)) if hasattr(source, "members") else [spec]

    with quoting_own(base):
        return _by_source(spec, where, named)


def load_task(spec: TaskSpec, base: Path, where: Where | None = None) -> Task:
    """Load the task that `spec` names, with all its examples, and the pool that it gives.

    Paths are relative to the folder `base`, that of the suite file; `where` tells where the keys of
    the task stand in it.

    Raises
    ------
    SuiteError
        With all mistakes in the data, those of the pool included.
    """
    place = where or (lambda *_keys: (base, None))
    task, pool, problems = None, None, list[Problem]()
    try:
        task = _load(spec, base, place)
    except SuiteError as error:
        problems += error.problems
    asked = spec.pool if isinstance(spec.pool, PoolSpec) else None  # a package may call a key so
    try:
        pool = None if asked is None else _load_pool(spec, asked, base, partial(place, "pool"))
    except SuiteError as error:
        problems += error.problems
    if task is None or problems:
        raise SuiteError(dict.fromkeys(problems))
    if asked is None or pool is None:
        return task
    source = ", ".join(filter(None, (asked.path, asked.split and f"split {asked.split}")))
    return replace(task, pool=_told_apart(pool.examples, task.examples), pool_source=source)


def absent_file(spec: TaskSpec, base: Path) -> str | None:
    """Say which file or folder of a task is not there, or not for it; None if all may be read.

    What is no path (a dataset's id on the hub, the name of a task of lm-eval) is none of them:
    :func:`absent_data` says of those.
    """
    places: list[str | None] = [
        getattr(part, "path", None) for part in (spec, spec.pool, spec.test)
    ]
    by_name = spec.format in ("hub", "lm_eval")
    for path in places:
        if path is None or (by_name and not path.startswith((".", "/", "~"))):
            continue
        file = base / Path(path).expanduser()
        if why := refused(file, path):
            return why
        if not file.exists():
            return f"there is no {path}"
    return None


def absent_data(spec: TaskSpec, base: Path, where: Where) -> str | None:
    """Say which data that have a name, not a path, are on this machine in no way; None if all are.

    It is asked of one task; a group of lm-eval has `members`.

    Raises
    ------
    SuiteError
        If its source cannot say.
    """

    def asked(source: Any) -> str | None:
        return source.absent(spec, base, where) if hasattr(source, "absent") else None

    with quoting_own(base):
        return _by_source(spec, where, asked)


def _told_apart(pool: tuple[Example, ...], examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """Give the examples of a pool ids that none of the others has; both may be numbers of rows."""
    if {example.id for example in pool}.isdisjoint(example.id for example in examples):
        return pool
    return tuple(replace(example, id=f"pool {example.id}") for example in pool)


def _load_pool(spec: TaskSpec, asked: PoolSpec, base: Path, where: Where) -> Task:
    """Load what `pool` names as a task of the same format."""
    other = asked.model_dump(exclude_none=True)
    keys = type(spec).model_fields
    way_out = next((f"give `{key}`" for key in ("path", "split") if key in keys), "remove `pool`")
    if unread := [key for key in other if key not in keys]:
        mistake = (
            f"{spec.name}: `format: {spec.format}` cannot read another {' or '.join(unread)}; "
            f"{way_out}"
        )
        raise SuiteError([Problem(*where(unread[0]), mistake)])
    ending = PurePath(asked.path or "").suffix.lower()
    if ending in _OTHER_ENDINGS.get(spec.format, ()):
        mistake = (
            f"{spec.name}: a pool has the format of its task, `format: {spec.format}`, but this "
            f"file ends in {quoted(ending)}; give a pool in the task's format"
        )
        raise SuiteError([Problem(*where("path"), mistake)])
    return _load(spec.model_copy(update={**other, "pool": None}), base, where)


def _load(spec: TaskSpec, base: Path, place: Where) -> Task:
    findings = _findings(spec, place)
    with quoting_own(base):
        try:
            task = _by_source(spec, place, lambda source: source.read(spec, base, place))
        except SuiteError as error:
            raise SuiteError(_of_usual_format(spec, error.problems)) from None
        if not isinstance(task, Task):
            raise findings.error(
                f"{titled(SOURCES, spec.format)} returned {type(task).__name__}, expected Task; "
                "report this to its authors"
            )
        said = spec.model_dump(include={field.name for field in fields(Layout)}, exclude_none=True)
        return replace(checked_task(task, findings), layout=replace(task.layout, **said))


def _of_usual_format(spec: TaskSpec, problems: Sequence[Problem]) -> Sequence[Problem]:
    """Say once that a file is read in another format than its name tells, where nothing fits."""
    path = Path(getattr(spec, "path", ""))
    usual = usual_format({"path": str(path)})
    formats = {"bigbench", "jsonl", "csv"} - {usual}
    in_file = all(problem.path.name == path.name for problem in problems)
    if usual not in ("jsonl", "csv") or spec.format not in formats or not in_file:
        return problems
    told = (
        f"{problems[0].message}; `format: {spec.format}` reads this file, and its ending is that "
        f"of `format: {usual}`"
    )
    return [replace(problems[0], message=told)]


def _findings(spec: TaskSpec, place: Where) -> Findings:
    return Findings(
        lambda number, message: Problem(
            *place("format"),
            f"{spec.name}, example {number}: {message}" if number else f"{spec.name}: {message}",
        ),
        lambda number: f"example {number}",
    )


def _by_source(spec: TaskSpec, place: Where, ask: Callable[[Source[Any]], T]) -> T:
    """Ask the source of a task; an error in a package's code becomes a sentence."""
    with blamed(SOURCES, spec.format, _findings(spec, place).error):
        return ask(BUILT_IN.get(spec.format) or load(SOURCES, spec.format))


def set_aside(
    task: Task, spec: TaskSpec, base: Path, where: Where
) -> tuple[Task, tuple[Example, ...]]:
    """Return the task without its test set, and the test set; nothing where there is none.

    Examples that repeat each other go to the same side, and so do those of one cluster; one of the
    task that repeats an example of a test file, or shares its cluster, is left out of the task:
    what is tested is never shown.

    Raises
    ------
    SuiteError
        If the test file is wrong, or a side is left without examples.
    """
    if spec.test is None:
        return task, ()
    if spec.test.path is None:
        tested = _drawn(task, spec.test)
        test = tuple(example for example in task.examples if tested & _known_by(example))
    else:
        if "path" not in type(spec).model_fields:
            message = f"`format: {spec.format}` cannot read another path; give `fraction`"
            raise SuiteError([Problem(*where("path"), f"{task.name}: {message}")])
        changed = {"path": spec.test.path, "test": None, "pool": None}
        of_file = load_task(spec.model_copy(update=changed), base, where)
        test = of_file.examples
        tested = {key for example in test for key in _known_by(example)}
    kept = tuple(example for example in task.examples if not tested & _known_by(example))
    pool, shown = None, 0
    if task.pool is not None:
        pool = tuple(example for example in task.pool if not tested & _known_by(example))
        shown = len(task.pool) - len(pool)
    if not test or not kept:
        way_out = "give the task more examples or `test` another fraction"
        if spec.test.path:
            way_out = "name a test file with other examples"
        message = (
            f"{task.name} has {len(task.examples)} examples, of which the test set takes "
            f"{len(test)} and leaves {len(kept)}; both need at least one, so {way_out}"
        )
        raise SuiteError([Problem(*where("test"), message)])
    dropped = len(task.examples) - len(kept) if spec.test.path else 0
    notes = task.notes
    if dropped:
        clustered = any(example.cluster is not None for example in test)
        kind = "left_out_for_clusters" if clustered else "left_out_for_test"
        notes += (Remark(kind, {"examples": dropped}),)
    if spec.test.path is None and len(kept) < len(test):
        notes += (Remark("small_validation_set", {"test": len(test), "left": len(kept)}),)
    if shown:
        notes += (Remark("tested_not_shown", {"examples": shown}),)
    return replace(task, examples=kept, pool=pool, notes=notes), test


def _drawn(task: Task, spec: TestSpec) -> set[_Key]:
    """Return the given share of the distinct examples: those that a seeded hash ranks first.

    So neither the order of the file nor a few added examples draw another test set. Of clusters
    it is that share of the clusters, and what examples in other clusters repeat goes with them.
    """
    assert spec.fraction is not None
    of_cluster: dict[_Key, set[_Key]] = defaultdict(set)
    for example in task.examples:
        of_cluster[_group(example)].add(_shown(example))
    ranked = sorted(of_cluster, key=lambda key: digest("test", spec.seed, *key))
    drawn = set(ranked[: round(spec.fraction * len(ranked))])
    while True:
        shown = {each for key in drawn for each in of_cluster[key]}
        linked = {key for key, members in of_cluster.items() if members & shown}
        if linked == drawn:
            return drawn | shown
        drawn = linked


def _shown(example: Example) -> _Key:
    """Return what makes two examples the same question: the order of the choices does not."""
    after = () if example.continuation is None else (example.continuation,)
    return (example.input, *sorted(example.choices), *after)


def _group(example: Example) -> _Key:
    """Return what its cluster's examples have in common; a question has more than one part."""
    return _shown(example) if example.cluster is None else (example.cluster,)


def _known_by(example: Example) -> set[_Key]:
    """Return what no example of the other side may share."""
    return {_shown(example), _group(example)}

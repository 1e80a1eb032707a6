"""`maxrandom init`: a first suite for tasks and models, with its numbers explained."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.commands import table
from pytest_maxrandom.commands.tasks import keys_of
from pytest_maxrandom.errors import KEYS, Problem, SuiteError
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.stats.sizes import baseline_for, true_accuracy_for_power
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.suite import FOLDER, is_suite
from pytest_maxrandom.suite.base import QUANTIZATIONS
from pytest_maxrandom.tasks.found import FoundTask, NoTask, Unreadable, find_tasks
from pytest_maxrandom.tasks.guesses import completed

if TYPE_CHECKING:
    import argparse
    from fractions import Fraction

    from pytest_maxrandom.claims.planned import PlannedClaim

_LEVEL, _POWER = 0.05, 0.8
_TRIES = (1, 10, 100, 1000)
_CLAIMED = {
    "p_max": "the best of t random guessers does as well with at most this probability. It is "
    "claimed\n#   where prompts leave out their own demonstrations: guessers may count the labels.",
    "permutation_p": "the best of these prompts does so on shuffled right answers.",
    "beats": "the best prompt is above the maximum random baseline.",
}
"""What a suite claims by default, in words."""
_DESCRIPTION = """\
Write a suite for the given tasks and models. Its comments explain n, t and the power of the claim,
with numbers computed from the tasks' own examples and choices. No model is loaded, and no file is
overwritten."""
_SIMULATED = "simulated: for a real model, replace this whole line"
_EPILOG = """\
example: maxrandom init --task data/snarks.json --model allenai/OLMo-7B-hf --t 50"""


@dataclass(frozen=True)
class _Draft:
    """The keys of a suite, and where it will stand."""

    path: Path
    models: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    shots: list[int]
    n: int
    t: int


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    parser = commands.add_parser(
        "init",
        help="write a suite for a task and a model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add(
        "--task",
        action="append",
        required=True,
        metavar="PATH",
        help=(
            "a task file (BIG-bench JSON, JSONL, CSV, lm-eval YAML), or the name of an lm-eval "
            "task; may be repeated"
        ),
    )
    add(
        "--model",
        action="append",
        required=True,
        metavar="ID",
        help="a hub id, a folder, a GGUF file, or `mock` for a simulated model; may be repeated",
    )
    add(
        "--task-format", metavar="FORMAT", help="format of the task file (default: from its suffix)"
    )
    add(
        "--set",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="set keys of the task, with their values in YAML, such as columns.input=question or "
        "columns.choices='[A, B, C]'; may be repeated",
    )
    add(
        "--shots",
        type=int,
        action="append",
        metavar="K",
        help="number of demonstrations (default: 4)",
    )
    add("--n", type=int, default=200, help="largest number of examples (default: 200)")
    add("--t", type=int, default=20, help="number of prompts to try (default: 20)")
    add("--out", type=Path, metavar="FILE", help=f"file to write (default: {FOLDER}/TASK.yaml)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Write the suite, and say what to do next.

    Raises
    ------
    ValueError
        If an option is wrong, or the file exists.
    SuiteError
        If a task cannot be read, or no claim can be made of it.
    """
    found = _tasks(options)
    name = re.sub(r"[^\w.-]+", "-", found[0].name)
    path = options.out or Path(FOLDER) / f"{name}.yaml"
    if not is_suite(path.absolute(), Path.cwd()):
        raise ValueError(
            f"--out: pytest would not collect {path}; expected a YAML file below a folder named "
            f"{FOLDER}, or *.maxrandom.yaml"
        )
    if path.exists():
        raise ValueError(f"{path} already exists and was not changed; give --out another name")
    draft = _Draft(
        path,
        [_model(model, path.parent) for model in options.model],
        [_entry(task, path.parent) for task in found],
        options.shots or [4],
        options.n,
        options.t,
    )
    made = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        claims = _planned(draft)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(_suite(draft, claims))
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        raise
    return f"Wrote {path}. Read it, then run:\n  maxrandom check {path}\n  pytest {path}"


def _tasks(options: argparse.Namespace) -> list[FoundTask]:
    found: list[FoundTask] = []
    problems: list[Problem] = []
    paths = [Path(task) for task in options.task]
    for each in find_tasks(paths, options.task_format, keys_of(options.set)):
        if isinstance(each, Unreadable):
            problems += each.problems
        elif isinstance(each, FoundTask) and each.line is not None:
            raise ValueError(f"--task: {each.path} is a suite already")
        elif not isinstance(each, NoTask):
            try:
                found.append(completed(each))
            except SuiteError as error:
                problems += error.problems
    if problems:
        raise SuiteError(problems)
    if not found:
        raise ValueError(f"--task: found no task in {', '.join(options.task)}")
    return found


def _model(name: str, base: Path) -> dict[str, Any]:
    """Return the keys of a model; a path is made relative to the suite."""
    if name == "mock":
        return {"name": "mock", "backend": "mock", "knows": 0.6}
    if "://" in name:
        raise ValueError(
            f"--model: found {name!r}, expected a hub id, a folder or a GGUF file; for a model "
            "behind a server, write the keys backend, url and name into the suite"
        )
    path = Path(name).expanduser()
    if path.exists():
        name = _relative(path, base)
    elif name.startswith((".", "/", "~")) or path.suffix == ".gguf":
        raise ValueError(f"--model: there is no file or folder {name}")
    if path.suffix == ".gguf":
        return {"name": name, "backend": "gguf"}
    return {"name": name, "quantization": "nf4"}


def _entry(found: FoundTask, base: Path) -> dict[str, Any]:
    """Return the keys of a task; paths are made relative to the suite."""
    keys = found.spec.model_dump(exclude_unset=True, mode="json")
    for part in (keys, keys.get("pool"), keys.get("test")):
        if isinstance(part, dict) and (path := part.get("path")):
            file = found.base / Path(path).expanduser()
            part["path"] = _relative(file, base) if file.exists() else path
    return keys


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path.absolute(), base.absolute())).as_posix()


def _planned(draft: _Draft) -> list[PlannedClaim]:
    """Return the claims of the first model, as pytest would collect them.

    Raises
    ------
    SuiteError
        With what is wrong with the tasks.
    """
    with tempfile.TemporaryDirectory(prefix=".maxrandom-", dir=draft.path.parent) as folder:
        # Paths are relative to the suite's own folder, so the draft stands there too.
        file = Path(f"{folder}.maxrandom.yaml")
        try:
            file.write_text(_suite(draft, []), encoding="utf-8")
            claims = sweeps_of(plan_file(file))
        except SuiteError as error:
            own = [
                replace(problem, path=draft.path, line=None) if problem.path == file else problem
                for problem in error.problems
            ]
            raise SuiteError(own) from None
        finally:
            file.unlink(missing_ok=True)
    first = claims[0].model.name
    return [claim for claim in claims if claim.model.name == first]


def _suite(draft: _Draft, claims: list[PlannedClaim]) -> str:
    """Write the suite; without claims it has no comments on them."""
    lines = [
        "# Written by `maxrandom init`. Change what you like, then run:",
        f"#   maxrandom check {draft.path.as_posix()}",
        f"#   pytest {draft.path.as_posix()} --maxrandom-report report.md",
        f"# All keys and their defaults: {KEYS}",
        "models:",
    ]
    for model in draft.models:
        # On one line, so that nobody replaces its name alone.
        mock = model.get("backend") == "mock"
        lines += [f"  - {_yaml(model)}  # {_SIMULATED}"] if mock else _listed(model)
    lines.append("tasks:")
    for task in draft.tasks:
        lines += _listed(task)
        lines += [f"    # {line}" for line in _about_n(task["name"], claims)]
        sizes = [len(c.condition.task.examples) for c in claims if c.task == task["name"]]
        if "validation" not in task and (not sizes or max(sizes) > draft.n):
            lines.append(f"    validation: {{max_examples: {draft.n}}}")
    lines += [
        "prompts:",
        f"  shots: {_yaml(draft.shots)}  # demonstrations; each number makes a claim",
    ]
    lines += [f"  # {line}".rstrip() for line in _about_t(claims)]
    lines += [f"  count: {draft.t}", *_about_claimed(claims)]
    return "\n".join(lines) + "\n"


def _listed(keys: dict[str, Any]) -> list[str]:
    """Write keys as an item of a list."""
    rows = [f"{key}: {_yaml(value)}" for key, value in keys.items()]
    if "quantization" in keys:
        rows[-1] += f"  # {' | '.join(QUANTIZATIONS)} (the files are already quantized)"
    return [f"  - {rows[0]}", *(f"    {row}" for row in rows[1:])]


def _yaml(value: Any) -> str:
    """Write a value on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False
    )
    return text.strip().removesuffix("\n...")


def _about_n(task: str, claims: list[PlannedClaim]) -> list[str]:
    """Say which examples are scored, for each number of shots."""
    lines = []
    for claim in claims:
        if claim.task != task:
            continue
        found = claim.condition.prompt_set
        several = f"{len(claim.condition.task.examples):,} examples"
        lines.append(
            {
                "none": f"{claim.shots}-shot: n = {found.n} of {several}.",
                "outside": f"{claim.shots}-shot: n = {found.n} of {several}; demonstrations come "
                f"from the other {found.pool:,}.",
                "leave_out": f"{claim.shots}-shot: n = {found.n}. There are {several}, too few to "
                "set some aside:",
                "pool": f"{claim.shots}-shot: n = {found.n} of {several}; demonstrations come from "
                f"the task's own pool of {found.pool:,}.",
            }[found.regime]
        )
        if found.regime == "leave_out":
            lines.append("each prompt is scored on all examples but its own demonstrations.")
    return lines


def _about_t(claims: list[PlannedClaim]) -> list[str]:
    """Say what t costs and what n brings, for each claim."""
    if not claims:
        return []
    lines = [
        "t: distinct prompts to try. The best of many tries is high even if every try is a guess:",
        "the maximum random baseline is the expected accuracy of the best of t random guessers.",
        f"`needed` passes where prompts answer independently of each other (p_max <= {_LEVEL:g}).",
        *_where_alike(claims),
        "`true accuracy`: what one prompt must truly have to reach `needed` with a probability of",
        f"{_POWER * 100:g} % (power), on n and on 2n examples.",
    ]
    for claim in claims:
        found = claim.condition.prompt_set
        chances = [example.chance for example in found.scored(found.prompts[0])]
        lines += ["", f"{claim.task}, {claim.shots}-shot, n = {found.n}, t = {claim.null.t}:"]
        if found.possible < claim.suite.prompts.count:
            prompts = "prompt" if found.possible == 1 else "prompts"
            lines.append(f"(only {found.possible:,} distinct {prompts} can be drawn here)")
        lines += [f"  {line}" for line in _powers(chances, claim.null.t)]
    return [
        *lines,
        "",
        "More prompts need a higher accuracy, more examples a lower one: see `maxrandom plan`.",
    ]


def _where_alike(claims: list[PlannedClaim]) -> list[str]:
    """Say whether fewer right answers pass where prompts answer alike: not where p_max is asked."""
    counted = {"p_max" in claim.claim.bounds() for claim in claims}
    if counted == {True}:
        return []
    told = "The more alike they answer, the fewer are needed, but always more than max random"
    return (
        [f"{told}", "(where prompts leave out no examples)."] if True in counted else [f"{told}."]
    )


def _about_claimed(claims: list[PlannedClaim]) -> list[str]:
    """Write what is claimed by default; only as comments where claims differ in it."""
    defaults: list[dict[str, float | str]] = []
    for claim in claims:
        if (bounds := claim.claim.bounds()) not in defaults:
            defaults.append(bounds)
    keys = {key for bounds in defaults for key in bounds}
    lines = [f"# {key}: {words}" for key, words in _CLAIMED.items() if key in keys]
    if len(defaults) == 1:
        return [*lines, f"assert: {_yaml(defaults[0])}"]
    shown = [f"# assert: {_yaml(bounds)}" for bounds in defaults]
    return [*lines, *(["# By default, each claim is one of these:", *shown] if shown else [])]


def _powers(chances: list[Fraction], t: int) -> list[str]:
    """Return a table over numbers of prompts, of which t is marked."""
    n = len(chances)
    rows = [["t", "max random", "needed", "true accuracy", "on 2n"]]
    for tries in sorted({*_TRIES, t}):
        baseline = baseline_for(n, chances, tries)
        critical = baseline.critical_count(_LEVEL)
        needed = "impossible" if critical is None else f"{critical}/{n} = {accuracy(critical / n)}"
        rows.append(
            [
                f"{'>' if tries == t else ''} {count(tries)}",
                accuracy(baseline.expected_accuracy),
                needed,
                accuracy(true_accuracy_for_power(n, chances, tries, _POWER, _LEVEL)),
                accuracy(true_accuracy_for_power(2 * n, 2 * chances, tries, _POWER, _LEVEL)),
            ]
        )
    return table(rows, left=0).splitlines()

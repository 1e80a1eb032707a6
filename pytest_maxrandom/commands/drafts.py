"""The text of a first suite, with comments that explain its numbers: see `maxrandom init`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.commands import table
from pytest_maxrandom.errors import KEYS
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.stats.sizes import baseline_for, true_accuracy_for_power
from pytest_maxrandom.suite.base import QUANTIZATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.commands.task_guesses import Guess

_LEVEL, _POWER = 0.05, 0.8
_TRIES = (1, 10, 100, 1000)
_CLAIMED = {
    "p_max": "the best of t random guessers does as well with at most this probability. It is "
    "claimed\n#   where prompts leave out their own demonstrations: guessers may count the labels.",
    "permutation_p": "the best of these prompts does so on shuffled right answers.",
    "beats": "the best prompt is above the maximum random baseline.",
}
"""What a suite claims by default, in words."""
_SIMULATED = "simulated: for a real model, replace this whole line, such as by"
_REAL = {"name": "allenai/OLMo-7B-hf", "quantization": "nf4"}


@dataclass(frozen=True)
class Draft:
    """The keys of a suite, and where it will stand."""

    path: Path
    models: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    shots: list[int]
    n: int
    t: int
    guesses: Mapping[str, Sequence[Guess]]
    """What was guessed of each task, by its name."""


def suite_of(draft: Draft, claims: list[PlannedClaim]) -> str:
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
        lines += [f"  - {yaml_of(model)}  # {_SIMULATED}"] if mock else _listed(model)
        lines += [f"  # - {yaml_of(_REAL)}"] if mock else []
    lines.append("tasks:")
    for task in draft.tasks:
        lines += _listed(task)
        lines += [f"    # {each.key}: {each.why}" for each in draft.guesses[task["name"]]]
        lines += [f"    # {line}" for line in _about_n(task["name"], claims)]
        sizes = [len(c.condition.task.examples) for c in claims if c.task == task["name"]]
        if "validation" not in task and (not sizes or max(sizes) > draft.n):
            lines.append(f"    validation: {{max_examples: {draft.n}}}")
    if all(task.get("answer_is") == "open" for task in draft.tasks):
        lines.append("scoring: exact_match  # there are no choices: the model writes its answer")
    lines += [
        "prompts:",
        f"  shots: {yaml_of(draft.shots)}  # demonstrations; each number makes a claim",
    ]
    lines += [f"  # {line}".rstrip() for line in _about_t(claims)]
    lines += [f"  count: {draft.t}", *_about_claimed(claims)]
    return "\n".join(lines) + "\n"


def _listed(keys: dict[str, Any]) -> list[str]:
    """Write keys as an item of a list."""
    rows = [f"{key}: {yaml_of(value)}" for key, value in keys.items()]
    if "quantization" in keys:
        rows[-1] += f"  # {' | '.join(QUANTIZATIONS)} (the files are already quantized)"
    return [f"  - {rows[0]}", *(f"    {row}" for row in rows[1:])]


def yaml_of(value: Any) -> str:
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
        drawn = claim.condition.prompt_set
        several = f"{len(claim.condition.task.examples):,} examples"
        lines.append(
            {
                "none": f"{claim.shots}-shot: n = {drawn.n} of {several}.",
                "outside": f"{claim.shots}-shot: n = {drawn.n} of {several}; demonstrations come "
                f"from the other {drawn.pool:,}.",
                "leave_out": f"{claim.shots}-shot: n = {drawn.n}. There are {several}, too few to "
                "set some aside:",
                "pool": f"{claim.shots}-shot: n = {drawn.n} of {several}; demonstrations come from "
                f"the task's own pool of {drawn.pool:,}.",
            }[drawn.regime]
        )
        if drawn.regime == "leave_out":
            lines.append("each prompt is scored on all examples but its own demonstrations.")
    return lines


def _about_t(claims: list[PlannedClaim]) -> list[str]:
    """Say what t costs and what n brings, for each claim."""
    if not claims:
        return []
    known = [claim for claim in claims if any(e.chance for e in claim.condition.task.examples)]
    lines = [
        "t: distinct prompts to try. The best of many tries is high even if every try is a guess:",
        "the maximum random baseline is the expected accuracy of the best of t random guessers.",
    ]
    if not known:
        return [*lines, "Without choices it is learnt from the answers, once these are there."]
    lines += [
        f"`needed` passes where prompts answer independently of each other (p_max <= {_LEVEL:g}).",
        *_where_alike(known),
        "`true accuracy`: what one prompt must truly have to reach `needed` with a probability of",
        f"{_POWER * 100:g} % (power), on n and on 2n examples.",
    ]
    for claim in known:
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
        return [*lines, f"assert: {yaml_of(defaults[0])}"]
    shown = [f"# assert: {yaml_of(bounds)}" for bounds in defaults]
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

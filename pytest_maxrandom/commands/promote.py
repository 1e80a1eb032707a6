"""`maxrandom promote`: what to commit so that a best prompt that passed is the incumbent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.claims.incumbents import incumbent_of
from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.commands import add_command
from pytest_maxrandom.notation import count
from pytest_maxrandom.record.words import BY_HAND
from pytest_maxrandom.reports.incumbent import difference
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.suite.incumbent import IncumbentSpec
from pytest_maxrandom.suite.loader import RecordedSuite
from pytest_maxrandom.sweeps.prompts.sampling import written

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.sweeps.prompts.formats import Prompt

_LAYOUT = ("input_prefix", "output_prefix", "choice_prefix", "separator", "append_choices")
"""Texts that a format may write differently from its task."""
_BEST_OF_RESULTS = ("best_prompt", "first_best_prompt")
"""Kinds of remarks that name the best of recorded prompts."""
_UNTIL = (
    "# Until a prompt is better than this one, the claim fails; `xfail: nothing better yet` says "
    "so."
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "print what to commit so that the best prompt of a claim that passed is the incumbent"
    parser = add_command(commands, "promote", run, text)
    parser.add_argument("report", type=Path, help="the run, as --maxrandom-json wrote it")
    parser.add_argument(
        "--claim",
        metavar="ID",
        help="the claim, as the report names it; not needed where one alone is better than the "
        "incumbent",
    )


def run(options: argparse.Namespace) -> str:
    """Return the key `incumbent` of the claim's suite, as YAML.

    Raises
    ------
    ValueError
        If no such claim passed, or its suite does not have that prompt any more.
    MaxRandomError
        If the report or the suite cannot be read.
    """
    record = _passed(load(options.report).claims, options.claim)
    if record.backend == BY_HAND:
        raise ValueError(
            f"{record.id} is a test of your own, which names its incumbent itself; give it the "
            "best prompt's scores as `incumbent`"
        )
    path = Path(record.suite)
    suite = read_suite(path)
    name = record.id.partition("::")[2]
    if isinstance(suite, RecordedSuite):
        lines = _written(_recorded_keys(suite, record, name))
        return (
            f"# In {path}, in place of `incumbent`: {name} beside the one before: "
            f"{difference(record)}.\n# Looks at other answers to these examples go on with their "
            f"shares of the level.\n{_UNTIL}\n{lines}"
        )
    planned = next((each for each in plan(suite) if each.name == name), None)
    if planned is None:
        raise ValueError(f"{path} has no claim {name} any more; run it again")
    if record.best_prompt is None:
        raise ValueError(f"{record.id} was judged from recorded results; run it again")
    digest = record.best_prompt.digest
    found = next((p for p in planned.condition.prompt_set.prompts if p.digest == digest), None)
    if found is None:
        raise ValueError(f"{path} does not try the prompt {digest[:12]} any more; run it again")
    keys = _keys(planned, found)
    _check(suite, planned, keys, digest)
    return (
        f"# In {path}, in place of `incumbent`: {name} beside the one before: "
        f"{difference(record)}.\n# Its t, {count(record.t)}, goes on for the same model and number "
        "of shots: all prompts of the ledger still count.\n# With another one, `assert: {count: "
        "task}` counts them too.\n"
        f"{_UNTIL}\n{_written(keys)}"
    )


def _written(keys: dict[str, Any]) -> str:
    lines = yaml.safe_dump({"incumbent": keys}, sort_keys=False, allow_unicode=True, width=100)
    return lines.rstrip()


def _recorded_keys(suite: RecordedSuite, record: ClaimRecord, name: str) -> dict[str, Any]:
    """Return what a suite of recorded results says of the best of their prompts."""
    best = next(each.values["prompt"] for each in record.notes if each.kind in _BEST_OF_RESULTS)
    planned = next((each for each in plan_recorded(suite) if each.name == name), None)
    if planned is None or planned.evidence is None:
        raise ValueError(f"{suite.path} has no claim {name} any more; run it again")
    if best not in planned.evidence.results.prompts:
        raise ValueError(f"{suite.path} has no prompt {best!r} any more; run it again")
    before = suite.spec.incumbent
    kept = before.model_dump(include={"test", "matters"}, exclude_unset=True) if before else {}
    return {"prompt": best, **kept}


def _passed(claims: list[ClaimRecord], name: str | None) -> ClaimRecord:
    """Return the claim whose best prompt is better than the incumbent."""
    better = [each for each in claims if each.passed and "better_than" in each.asserted]
    named = [each for each in better if name in (None, each.id)]
    if len(named) == 1:
        return named[0]
    expected = "expected a claim that passed and asserts `better_than: incumbent`"
    if not better:
        raise ValueError(f"{expected}, found none in this report; promote a prompt after a pass")
    listed = ", ".join(each.id for each in better)
    if name is None:
        raise ValueError(f"{expected}, found several; name one with --claim: {listed}")
    raise ValueError(f"--claim: found {name!r}, expected one of {listed}")


def _keys(planned: PlannedClaim, prompt: Prompt) -> dict[str, Any]:
    """Return what a suite says of a prompt and a model."""
    task, layout, before = planned.condition.task, prompt.format.layout, planned.suite.incumbent
    usual = written(task, None, FormatSpec(labels=prompt.format.labels)).layout
    form: dict[str, Any] = {
        key: getattr(layout, key) for key in _LAYOUT if getattr(layout, key) != getattr(usual, key)
    }
    if prompt.format.labels != "text":
        form = {"labels": prompt.format.labels, **form}
    return {
        "instruction": layout.task_prefix,
        **({"demonstrations": [each.id for each in prompt.demonstrations]} if prompt.demonstrations
           else {}),
        **({"format": form} if form else {}),
        "model": planned.model.model_dump(mode="json", exclude_unset=True),
        **(before.model_dump(include={"test", "matters"}, exclude_unset=True) if before else {}),
    }  # fmt: skip


def _check(suite: Suite, planned: PlannedClaim, keys: dict[str, Any], digest: str) -> None:
    """Make sure that a suite which says this has the very prompt."""
    spec = IncumbentSpec.model_validate(keys)
    with_it = planned.suite.model_copy(update={"incumbent": spec})
    found = incumbent_of(with_it, planned.condition, suite.path.parent)
    assert found is not None
    assert found.prompt is not None
    if found.prompt.digest != digest:
        raise ValueError("its keys cannot write this prompt; name its instruction and format")

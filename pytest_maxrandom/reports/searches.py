"""Searches in words: where tries come from, and as the best of how many prompts p counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import count, tries
from pytest_maxrandom.reports.text import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, Unpassable


def prompts_in_words(prompts: float | None) -> str:
    """Write as the best of how many prompts one is judged: `1,048,575 prompts`."""
    if prompts is None:
        return "prompts without number"
    return f"{tries(prompts)} prompt{'s' * (prompts != 1)}"


def why_nothing_passes(why: Unpassable, n: int | None = None) -> str:
    """Say why no result on the validation set can pass after a search."""
    examples = "these examples" if n is None else f"these {count(n)} examples"
    return {
        "answers": f"a search saw which answers are right, so {examples} give no p-value",
        "too_many": f"searches could have tried so many prompts that no result on {examples} "
        "can pass",
        "metric": f"after a search {examples} give p-values of accuracy only, and the metric is "
        "another one",
        "permutations": "the right answers cannot be shuffled in enough ways to tell the best of "
        f"so many prompts from a preferred label, so no result on {examples} can pass",
        "no_formula": "after a search no formula of the permutation p is known where examples "
        f"belong together or have several right answers, so no result on {examples} can pass",
    }[why]


def of_searches(claim: ClaimRecord) -> str:
    """Say where the tries of a claim came from, and by which rule it is judged; or nothing."""
    if claim.searched is None:
        return ""
    found = asdict(claim.searched)
    return f"{sources(found['searches'])}; {rule(found)}"


def sources(searches: Sequence[Mapping[str, Any]]) -> str:
    """Say which searches tried how many prompts; those that are alike together."""
    alike: Counter[tuple[Any, ...]] = Counter()
    for each in searches:
        alike[each["by"], each["feedback"], each["budget"]] += each["steps"]
    told = []
    for (by, feedback, budget), steps in alike.items():
        of = "no budget declared" if budget is None else f"budget {count(budget)}"
        told.append(f"{by} tried {number_of(steps, 'prompt')} (feedback `{feedback}`, {of})")
    return listed(told)


def results_in_sight(number: int) -> str:
    """Write how many results a search can read, and what one is."""
    return f"{number_of(number, 'other result')} in the ledger (each prompt on each model)"


def rule(values: Mapping[str, Any]) -> str:
    """Say which rule judges a claim after searches."""
    shown = values.get("in_sight", 0)
    if values["why"] is not None:
        ways = {
            "test": "the test set alone decides",
            "nothing": "a test set that nobody has seen or opened could decide, and there is none",
        }
        way = ways[values["decided_by"]]
        read = f"; it could read {results_in_sight(shown)}" if shown else ""
        return f"{why_nothing_passes(values['why'])}{read}: {way}"
    looks = values.get("looks", 0)
    learned = ["there"] * any(each["feedback"] != "none" for each in values["searches"])
    if looks:
        learned.append(f"from {number_of(looks, 'earlier verdict')}")
    if shown:
        learned.append(f"from {results_in_sight(shown)}")
    if not learned:
        return "it learned nothing of the answers, so p counts t as for any claim"
    return (
        f"what was learned {listed(learned)} may have chosen the prompts, so the best one is "
        f"judged as the best of {prompts_in_words(values['possible'])}"
    )

"""Right answers that follow which things are compared, where no test allows for that."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.things import things_of
from pytest_maxrandom.stats.compared import FOLLOW, comparisons, follows_things


def _check(judged: JudgedAnswers) -> Found:
    if judged.orders_tested or (things := things_of(judged.answers)) is None:
        return
    p = follows_things(things.gold, things.offered)
    if p is not None and p <= FOLLOW:
        each = comparisons(things.offered)
        own = [compares for compares in each if compares]
        parameters = {
            "examples": len(own),
            "n": len(each),
            "things": len({thing for each in own for thing in each}),
        }
        yield Flag("compared_things", parameters)


RED_FLAG = RedFlagKind(
    kind="compared_things",
    rank=65,
    topic="examples",
    default="fail",
    description="Examples that compare things which recur, and right answers that follow these "
    "things, where no permutation test of it could be made.",
    sentences="{examples:,} of {n:,} examples compare {things:,} things that recur, and the same "
    "things are right again and again: who has an order of its own over them, and knows nothing, "
    "passes far more often than the p-values say; record what was answered (`prediction`), so that "
    "other orders of the things can be tried.",
    brief="the same things are compared again and again",
    remedy="record the answers, or ask about more things",
    check=_check,
)

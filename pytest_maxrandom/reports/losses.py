"""Whether anything got worse, in words: a headline, and a sentence of each claim that needs one.

`pytest_maxrandom.reports.regressions` compares, and `pytest_maxrandom.reports.worse` writes tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import listed
from pytest_maxrandom.notation import accuracy, count, equals, level, p_value, signed
from pytest_maxrandom.reports.text import clauses, number_of, shorten, visible
from pytest_maxrandom.stats.judged_losses import look_share

if TYPE_CHECKING:
    from pytest_maxrandom.record import Regression, Regressions
    from pytest_maxrandom.record.regressions import Loss, Untold
    from pytest_maxrandom.record.words import Colour

SIGNS: dict[Loss, tuple[str, Colour]] = {
    "worse": ("🔻", "red"),
    "cannot tell": ("❔", "yellow"),
    "not worse": ("✅", "green"),
    "the same": ("✅", "green"),
}
"""A sign and a colour, in the order in which a reviewer wants to know of them."""
_WHY: dict[Untold, str] = {
    "too few": "too few examples",
    "chosen": "chosen on these examples",
    "unpaired": (
        "no example that both answered; compare runs of the same task, with --maxrandom-json each"
    ),
    "scored otherwise": (
        "another judge or another rule (`exact_match`, a metric) scored it, or samples come to "
        "something else (`aggregate`), so the scores are no two of a kind; score the base's "
        "answers as those of this run are"
    ),
    "base without answers": (
        "the base's report keeps no answers of it; run its commit again with --maxrandom-json, and "
        "with --maxrandom-until all where sweeps stop early"
    ),
    "no answers": (
        "this run keeps no answers of it; it was not tested, or its sweep stopped early, which "
        "--maxrandom-until all prevents"
    ),
    "by hand": (
        "a test states its numbers by hand, so there are no answers; cannot_tell=pass lets it pass"
    ),
    "several": (
        "its file is gone, and which claim it is now cannot be told (here: {candidates}); keep the "
        "names of files"
    ),
    "not tested": "the base has it, and this run does not",
}
_NAME, _SHOWN = 80, 5
_NO_CLAIM = "they share no claim"


def whether_worse(regressions: Regressions) -> str:
    """Say in one sentence whether anything is worse."""
    since = _since(regressions)
    claims = [each.loss for each in regressions.claims]
    if regressions.nothing:
        passes = ". cannot_tell=pass lets that pass" if regressions.allowed else ""
        return f"Nothing was compared with {since}: {regressions.problem or _NO_CLAIM}{passes}"
    parts = []
    if worse := regressions.worse:
        what = "claim" if not any(each.of_task for each in worse) else "result"
        verb = "is" if len(worse) == 1 else "are"
        parts.append(f"{number_of(len(worse), what)} {verb} worse than {since}")
    if untold := claims.count("cannot tell"):
        of = number_of(untold, "claim") if not worse else count(untold)
        parts.append(
            f"of {of} it cannot be told" + ("" if worse else f" whether it is worse than {since}")
        )
    if fine := claims.count("not worse"):
        of = count(fine) if parts else number_of(fine, "claim")
        verb = "is" if fine == 1 else "are"
        than = "" if parts else f" than {since}"
        parts.append(f"{of} {verb} not worse{than} by more than {accuracy(-regressions.margin)}")
    if same := claims.count("the same"):
        of = count(same) if parts else number_of(same, "claim")
        parts.append(f"{of} {'has' if same == 1 else 'have'} the very same answers")
    return "; ".join(parts)


def _since(found: Regressions) -> str:
    return visible(shorten(found.since, _NAME))


def worst_first(found: Regressions) -> list[Regression]:
    """Return claims and tasks, the worst first."""
    order = [*SIGNS]
    return sorted((*found.claims, *found.tasks), key=lambda each: order.index(each.loss))


def loss_told(one: Regression, regressions: Regressions) -> str:
    """Say of one claim what its row does not; empty where that is all."""
    parts = []
    if one.why is not None:
        parts.append(_unloss_told(one))
    if one.moved_from is not None:
        parts.append(f"it was in {visible(shorten(one.moved_from, _NAME))}")
    if one.needed is not None and one.loss == "cannot tell":
        needed = "less" if one.needed <= one.examples else f"about {count(one.needed)}"
        if needed != "less":
            parts.append(
                f"{needed} such examples would show it not worse by "
                f"{accuracy(-regressions.margin)}, if it is as good"
            )
    if one.compared == "best" and not one.of_task:
        parts.append("no prompt is in both, so the best of each are compared")
    elif one.compared == "best":
        parts.append("where no prompt is in both, the best of each are compared")
    if one.loss == "worse" and one.base_of is not None:
        parts.append(f"also if the base is the luckiest of {count(one.base_of)}")
    if one.loss == "not worse" and one.head_of is not None:
        parts.append(f"also if this is the luckiest of {count(one.head_of)}")
    if one.left_out and one.examples:
        left = number_of(one.left_out, "example")
        parts.append(f"{left} of the base {'is' if one.left_out == 1 else 'are'} not in both")
    return clauses(*parts)


def _unloss_told(one: Regression) -> str:
    assert one.why is not None
    if one.why != "chosen":
        named = [visible(shorten(each, _NAME)) for each in one.candidates]
        return _WHY[one.why].format(candidates=listed(named, _SHOWN))
    if one.searched:
        return "a search chose prompts on these examples, so new ones are needed to compare them"
    return (
        f"the base was chosen here, as one of {count(one.base_of)}, and may have been lucky; "
        "examples that chose nothing would tell"
    )


def about_looks(regressions: Regressions) -> str:
    """Say what level was kept, and what another run on these examples may add."""
    tested = [each for each in regressions.claims if each.p_worse is not None]
    sentences = []
    if looks := [each.look for each in tested if each.looks_counted]:
        now, after = (regressions.alpha * look_share(look) for look in (max(looks), max(looks) + 1))
        sentences.append(
            f"A false alarm at any look: at most {level(regressions.alpha)}. This look has "
            f"{level(now)} of that, and the next one at other answers to these examples "
            f"{level(after)}; examples that no look has seen begin anew"
        )
    if any(not each.looks_counted and each.loss != "the same" for each in tested):
        first = level(regressions.alpha * look_share(1))
        sentences.append(
            f"A false alarm at this look{' at recorded results' if looks else ''}: at most {first}."
            " No ledger is here to count it, so many looks alarm more often: compare where the "
            "suites are"
        )
    return ". ".join(sentences)


def worse_sign(found: Regressions) -> str:
    """Return the sign of what became of it."""
    if found.worse:
        return SIGNS["worse"][0]
    return SIGNS["cannot tell" if found.nothing or found.untold else "not worse"][0]


def worst(found: Regressions) -> list[Regression]:
    """Return the first of those that are worse, or of which that cannot be told."""
    return [each for each in worst_first(found) if each.loss in ("worse", "cannot tell")][:_SHOWN]


def loss(one: Regression, regressions: Regressions) -> str:
    """Say what became of one claim, with its numbers."""
    numbers = ""
    if one.difference is not None:
        p = one.p_worse if one.loss != "not worse" else one.p_not_worse
        numbers = (
            f"{accuracy(one.base_score)} to {accuracy(one.score)} ({signed(one.difference)}), "
            f"n = {count(one.examples)}, p {equals(p_value(p))}"
        )
    return clauses(one.loss, numbers, loss_told(one, regressions))

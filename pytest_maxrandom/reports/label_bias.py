"""A label-bias check in words: knowledge or label preference, and the numbers behind it.

Labels are texts from data, and are shortened where they stand within a phrase.
"""

from __future__ import annotations

import re

from pytest_maxrandom.notation import NONE, accuracy, count, equals, level, p_value, percent, signed
from pytest_maxrandom.record import (
    OUTCOMES,
    ClaimRecord,
    Doubt,
    InteractionBias,
    LabelBiasRecord,
    LabelRow,
    RunRecord,
)
from pytest_maxrandom.reports.computing import cost
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.text import clauses, shorten, visible
from pytest_maxrandom.stats.labels import FEWEST_LABELS, LITTLE_MASS, needed
from pytest_maxrandom.stats.multiplicity import above

_LEVEL = 0.05
"""Where nothing is asserted."""
_LABEL = 30
"""Characters of a label within a phrase."""
_NEGLIGIBLE = 1e-6
"""A smaller Monte Carlo error changes no digit that is shown."""
_NO_SHARE = 1e-9
"""A smaller share is rounding."""
_DIGEST = re.compile("[0-9a-f]{32,}")
_DOUBTS: dict[Doubt, str] = {
    "fails": "the claim itself fails",
    "cannot tell": "the claim itself cannot be told",
    "guessed": "who knows nothing reaches the best accuracy as well",
}
_METHODS = {"contextual": "contextual calibration", "pride": "PriDe"}


def label_checked(run: RunRecord) -> list[LabelBiasRecord]:
    """List the label-bias checks that have a result."""
    return [record for record in run.label_bias if record.interactions]


def bias_sentence(record: LabelBiasRecord) -> str | None:
    """Say what was found, with the numbers behind it; None where nothing was."""
    if not record.interactions:
        return None
    several = len(record.interactions) > 1
    return " ".join(
        f"{bias.interaction.capitalize()}: " * several + _found(bias, record)
        for bias in record.interactions
    )


def bias_failure(record: LabelBiasRecord) -> str | None:
    """Say in one line why what is asserted does not hold."""
    if not record.interactions:
        return record.message
    failed, several = [], len(record.interactions) > 1
    for bias in record.interactions:
        if bias.finding == "knowledge":
            continue
        unknown = bias.finding == "cannot tell"
        compared = ", ".join(
            f"{shown} is above {level(bound)}" if over and unknown else shown
            for shown, bound, over in _compared(bias, record)
        )
        why = ""
        if unknown and record.doubt is not None and record.cannot_tell is None:
            why = f", since {_DOUBTS[record.doubt]}"
        failed.append(
            f"{f'{bias.interaction}: ' * several}Nvr-X score {accuracy(bias.score)}, best guesser "
            f"{accuracy(bias.score_baseline)} ({compared}; t = {count(bias.t)}, n = "
            f"{count(bias.n)}): {bias.finding}{why}"
        )
    told = "; ".join(failed)
    if record.cannot_tell is None:
        return told
    said = OUTCOMES["cannot tell"].one
    return f"{said}, as the claim itself cannot: {worded(record.cannot_tell).text} ({told})"


def _found(bias: InteractionBias, record: LabelBiasRecord) -> str:
    compared, bound = _compared(bias, record), _bound(record)
    most = max(bias.labels, key=lambda row: row.predicted)
    explained = f"p {equals(p_value(bias.preference_p, level=bound))}"
    uneven, beyond = not above(bias.preference_p, bound), any(over for _, _, over in compared)
    numbers = f"{_reached(bias)} ({', '.join(shown for shown, _, _ in compared)})"
    preferred = (
        f"{100 * most.predicted:.0f} % of the answers of the most accurate prompt are "
        f"{most.label!r}"
    )
    more = f"{preferred}, more than guessing and knowing explain ({explained})"
    spread = f"; recalls {recalls(bias)}"
    if bias.finding == "knowledge":
        return f"Knowledge: {numbers}{spread}{f'; but {more}' * uneven}."
    if bias.finding == "label preference":
        return (
            f"Label preference: {numbers}, and {preferred}: they are spread over the labels more "
            f"unevenly than guessing and knowing explain ({explained}){spread}."
        )
    if beyond and not uneven:
        return (
            f"Cannot tell: {numbers}, and the answers are spread over the labels as guesses may be "
            f"({explained})."
        )
    if beyond:
        more += f", for which the last p shows knowledge from {level(compared[-1][1])} on"
    doubt = record.doubt and _DOUBTS[record.doubt]
    return f"Cannot tell: {numbers}; but {clauses(doubt, uneven and more, sep=', and ')}."


def _compared(bias: InteractionBias, record: LabelBiasRecord) -> list[tuple[str, float, bool]]:
    """Write the p-values of the score, each with its level, and whether it is above that.

    The last one is valid whatever label is preferred, and where a preference is established it
    alone can show knowledge.
    """
    bound = _bound(record)
    last = bound if bias.finding == "label preference" else needed(bias.preference_p, bound)
    named = {"p": bias.p_value, "p with shuffled right answers": bias.permutation_p}
    known = [(name, value) for name, value in named.items() if value is not None]
    bounds = [bound] * (len(known) - 1) + [last]
    return [
        (f"{name} {equals(p_value(value, level=most))}", most, above(value, most))
        for (name, value), most in zip(known, bounds, strict=True)
    ]


def _bound(record: LabelBiasRecord) -> float:
    return float(record.asserted.get("above_random", _LEVEL))


def score_p(bias: InteractionBias, record: LabelBiasRecord, key: str = "p_value") -> str:
    """Write a p-value of the score so that it is seen on which side of its level it is."""
    return p_value(getattr(bias, key), level=record.asserted.get("above_random"))


def _p_values(bias: InteractionBias, record: LabelBiasRecord, error: str = "") -> str:
    """Write all p-values of the score: ``p = .002, with shuffled right answers .004``."""
    shuffled = score_p(bias, record, "permutation_p")
    besides = "" if shuffled == NONE else f", with shuffled right answers {shuffled}"
    return f"p {equals(score_p(bias, record))}{error}{besides}"


def r_interval(bias: InteractionBias) -> str:
    """Write Fisher's interval of the correlation: ``-.13 to +1.00``."""
    if bias.r_low is None or bias.r_high is None:
        return ""
    return f"{signed(bias.r_low, 2)} to {signed(bias.r_high, 2)}"


def correlation(bias: InteractionBias) -> str:
    """Say how base rates and recalls correlate: ``r = +.97 (95 % interval -.13 to +1.00)``."""
    if bias.r is None:
        return ""
    interval = r_interval(bias)
    known = f"95 % interval {interval}" if interval else "only two values, so no interval"
    return f"r = {signed(bias.r, 2)} ({known})"


def recalls(bias: InteractionBias) -> str:
    """Say between which recalls the labels lie: ``.010 (B) to .980 (A)``."""
    shown = [(row.recall, row.label) for row in bias.labels if row.recall is not None]
    if not shown:
        return ""
    (low, least), (high, most) = (pick(shown, key=lambda each: each[0]) for pick in (min, max))
    if low == high and len(shown) > 1:
        return f"{accuracy(low)} of every label"
    return f"{accuracy(low)} ({_label(least)}) to {accuracy(high)} ({_label(most)})"


def required_score(record: LabelBiasRecord) -> str:
    """Say what is asserted of the scores."""
    if not record.asserted:
        return ""
    shuffled = ", also with shuffled right answers" if record.check == "recall" else ""
    return (
        f"the best prompt's Nvr-X score is above the best guesser's, p at most "
        f"{level(_bound(record))}{shuffled}"
    )


def asked_as(bias: InteractionBias, record: LabelBiasRecord) -> str:
    """Say what was found in one way of asking, in a clause for a paper."""
    spread, related = recalls(bias), correlation(bias)
    return clauses(
        f"asked as {bias.interaction}, {_reached(bias)} ({_p_values(bias, record)})",
        spread and f"recalls of the labels {spread}, RStd {accuracy(bias.rstd)}",
        related and f"correlation with their base rates {related}",
    )


def bias_facts(bias: InteractionBias, record: LabelBiasRecord) -> list[tuple[str, str]]:
    """List what is known of one way of asking, as titles and phrases; nothing is empty."""
    error = _monte_carlo(bias.score_baseline_error)
    mass = bias.base_rate_mass
    base_rates = clauses(
        mass is not None and f"all labels together have {percent(mass)} of the probability",
        mass is not None
        and mass < LITTLE_MASS
        and "that is below 1 %, so their shares of it mean little",
        correlation(bias),
        with_base_rates(bias.labels)
        and len(bias.labels) < FEWEST_LABELS
        and f"fewer than {FEWEST_LABELS} labels give no correlation",
    )
    score = f"{accuracy(bias.score)} of {_tried(bias)}"
    if bias.score_prompt != bias.best_prompt:
        score += f", which is {_prompt(bias.score_prompt)}"
    unlabelled = 1 - sum(row.predicted for row in bias.labels)
    others = ""
    if unlabelled > _NO_SHARE:
        others = f"{percent(unlabelled)} of this prompt's are none of the labels"
    shown = "" if record.check == "recall" else " over all placements of the right answers"
    known = [
        (
            "Nvr-X score",
            f"{score}; {_guessers(bias)} {accuracy(bias.score_baseline)}{error}"
            f"; {_p_values(bias, record, _monte_carlo(bias.p_error))}",
        ),
        (
            "Highest accuracy",
            f"{accuracy(bias.best_accuracy)}{shown}, of prompt {_prompt(bias.best_prompt)}, n = "
            f"{count(bias.n)}; the table is about this prompt",
        ),
        ("RStd", accuracy(bias.rstd)),
        ("Other answers", others),
        ("Base rates", base_rates),
    ]
    return [(title, phrase) for title, phrase in known if phrase]


def calibration_name(method: str) -> str:
    """Name how the labels' prior is removed."""
    return _METHODS.get(method, method)


def prior(shares: dict[str, float]) -> str:
    """Write a prior: ``A .310, B .254``; a dash if it was not recorded."""
    parts = (f"{_label(label)} {accuracy(share)}" for label, share in shares.items())
    return ", ".join(parts) or NONE


def bias_cost(record: LabelBiasRecord) -> str:
    """Say what the check took beyond the claim's own sweep."""
    if not record.interactions or record.simulated:
        return ""
    if record.engine is None:
        return "nothing beyond the claim's own sweep"
    took = ""
    if record.sweeps is not None:
        number = f"{record.sweeps:.2g}" if record.sweeps < 10 else f"{record.sweeps:,.0f}"
        took = f"{number} sweep{'s' * (number != '1')}, in tokens"
    return clauses(took, cost(record))


def bias_found(record: LabelBiasRecord) -> str:
    """Say what a check tells, in one phrase for a table of all kinds of records."""
    if not record.interactions:
        return ""
    scores = "; ".join(
        f"{_of(bias)}Nvr-X score {accuracy(bias.score)} (best guesser "
        f"{accuracy(bias.score_baseline)}, p {equals(score_p(bias, record))})"
        for bias in record.interactions
    )
    return f"{scores}: {record.finding}" if record.finding else scores


def of_claim(claim: ClaimRecord, run: RunRecord) -> str:
    """Say what the label-bias check of a claim tells, where there is one."""
    return "; ".join(bias_found(record) for record in run.label_bias if record.claim == claim.id)


def bias_numbers(record: LabelBiasRecord) -> dict[str, str]:
    """Name the numbers of a check that a reader compares, as they are written."""
    numbers = {
        "check": record.check,
        "asked as": ", ".join(bias.interaction for bias in record.interactions) or NONE,
    }
    for bias in record.interactions:
        numbers |= {
            f"{_of(bias)}n": count(bias.n),
            f"{_of(bias)}t": count(bias.t),
            f"{_of(bias)}Nvr-X score": accuracy(bias.score),
            f"{_of(bias)}p": score_p(bias, record),
            f"{_of(bias)}p, shuffled": score_p(bias, record, "permutation_p"),
            f"{_of(bias)}RStd": accuracy(bias.rstd),
        }
    return {**numbers, "finding": record.finding or NONE}


def with_base_rates(labels: list[LabelRow]) -> bool:
    """Tell whether any of the labels has a base rate."""
    return any(row.base_rate is not None for row in labels)


def _label(label: str) -> str:
    return shorten(visible(label), _LABEL)


def _of(bias: InteractionBias) -> str:
    """Name a way of asking that is not the usual one."""
    return "" if bias.interaction == "cloze" else f"{bias.interaction} "


def _monte_carlo(error: float) -> str:
    return f" (Monte Carlo error {p_value(error)})" if error >= _NEGLIGIBLE else ""


def _prompt(name: str) -> str:
    """Write a digest short, and any other name so that it is seen where it ends."""
    return name[:12] if _DIGEST.fullmatch(name) else f"'{_label(name)}'"


def _reached(bias: InteractionBias) -> str:
    return (
        f"{_tried(bias)} reaches an Nvr-X score of {accuracy(bias.score)} on n = {count(bias.n)} "
        f"examples, and {_guessers(bias)} {accuracy(bias.score_baseline)} on average"
    )


def _tried(bias: InteractionBias) -> str:
    return f"the best of t = {count(bias.t)} prompts" if bias.t > 1 else "the only prompt (t = 1)"


def _guessers(bias: InteractionBias) -> str:
    one = bias.t == 1
    guessers = "a random guesser" if one else "the best of as many random guessers"
    return guessers + f" who keep{'s' * one} to one choice of each example" * bias.by_content

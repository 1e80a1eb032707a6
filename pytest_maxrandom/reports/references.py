"""The statistical methods behind a run's numbers, in words and with their sources.

``references.bib`` next to this module has the sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import count
from pytest_maxrandom.record import SCORE, ClaimRecord, RunRecord
from pytest_maxrandom.reports.computing import trained
from pytest_maxrandom.reports.designs import checked, compared
from pytest_maxrandom.reports.label_bias import label_checked, with_base_rates
from pytest_maxrandom.reports.quantities import metric_name, tested
from pytest_maxrandom.suite.base import QUANTIZATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    _Told = tuple[Any, ...]
    """Whether a method was used, what it says, and the keys of its sources."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication."""

    key: str
    """Of its BibTeX entry."""
    authors: str
    """As a citation in running text names them."""
    year: str
    place: str
    """Where it is found, in short; empty for a book."""
    link: str
    """The same, as an address."""
    bibtex: str
    """Its entry."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method that was used: one sentence without its full stop, and where it comes from."""

    says: str
    references: Sequence[Reference]


_ADJUSTMENTS = {
    "holm": ("Holm's method, which controls the family-wise error", "holm-1979"),
    "bh": ("the method that controls the false discovery rate", "benjamini-hochberg-1995"),
}
_PAIRS = "pairs are adjusted for their number, in both directions, by Holm's method"
_BERT, _GPT2 = re.compile(r"\bbert\b", re.IGNORECASE), re.compile(r"\bgpt-?2\b", re.IGNORECASE)
"""In names of models, of which no other words tell."""


def methods(run: RunRecord) -> list[Method]:
    """List what the numbers of a run rest on; nothing where nothing has a result."""
    known = [*_of_claims(run), *_of_label_bias(run), *_of_designs(run), *_of_training(run)]
    return [Method(says, [_library()[key] for key in keys]) for used, says, *keys in known if used]


def _beside(claims: Sequence[ClaimRecord]) -> list[_Told]:
    """List what comparisons with an incumbent, a control and a stated baseline rest on."""
    others = [
        found
        for claim in claims
        for found in (claim.incumbent, claim.control, claim.baseline)
        if found is not None
    ]
    bounded = any(claim.baseline or claim.control or claim.metric == SCORE for claim in claims)
    return [
        (
            any(found.test == "resampled" for found in others),
            "The best prompt is compared with the incumbent by the reality check: examples are "
            "drawn with replacement, and its difference is compared with the largest rise of any "
            "of the prompts",
            "white-2000",
        ),
        (
            any(claim.incumbent and claim.incumbent.test == "exact" for claim in claims),
            "The best prompt is compared with the incumbent by an exact paired test, whose p-value "
            "is multiplied by t, for any dependence between prompts",
            "mcnemar-1947",
        ),
        (
            bounded and bool(others),
            "Means of scores from 0 to 1 are tested by random weights of the scores and of the "
            "least that there can be, times t",
            "gaffke-2005",
        ),
    ]


def _of_claims(run: RunRecord) -> list[_Told]:
    beside = _beside(tested(run.claims))
    claims = [claim for claim in run.claims if claim.verdict is not None]
    if not claims:
        return beside
    scores = " or ".join(dict.fromkeys(map(metric_name, claims)))
    article = "an" if scores.startswith("accuracy") else "a"
    p_max = ", and p_max the probability that it is at least that of the best prompt"
    new = [claim.new_questions for claim in claims if claim.new_questions is not None]
    tests = [claim.test for claim in claims if claim.test is not None]
    adjusted = sum(claim.adjusted_p is not None for claim in claims)
    how, source = _ADJUSTMENTS.get(run.adjustment, ("", ""))
    quantizations = {claim.quantization for claim in claims}
    return [
        (
            True,
            f"The maximum random baseline is the expected {scores} of the best of t random "
            "guessers on the same n examples"
            f"{p_max if any(claim.p_max is not None for claim in claims) else ''}",
            "yauney-mimno-2024",
        ),
        (
            any(claim.permutation_p is not None for claim in claims),
            "The permutation p is the probability that the best of these prompts has as high "
            f"{article} {scores} on shuffled right answers; shuffling ends early when enough of "
            "them do as well",
            "westfall-young-1993",
            "besag-clifford-1991",
        ),
        *beside,
        (
            new,
            "The bound on new questions is the accuracy that the best of t prompts just does not "
            "reject, at a t-th of 5 %, for any dependence between prompts",
            "clopper-pearson-1934",
        ),
        (
            any(one.clusters is not None for one in new),
            "Where examples form clusters, that bound uses the effective n, with the tail of the "
            "binomial times e",
            "bentkus-2004",
        ),
        (
            any(one.estimate is not None for one in new),
            "The accuracy estimated for new questions is that of the prompts that are best on "
            "resampled examples, measured on the examples that were not drawn",
            "efron-tibshirani-1997",
        ),
        (
            adjusted > 1 and how,
            f"P-values are adjusted for {count(adjusted)} claims by {how}",
            source,
        ),
        (
            any(claim.clusters is not None for claim in claims),
            "Where examples belong to clusters, the effective n is n^2 over the sum of squared "
            "cluster sizes: what n is worth if each cluster gets one answer",
            "kish-1965",
        ),
        (tests, "Intervals on the test set are Wilson's score intervals", "wilson-1927"),
        (
            any(test.p is not None for test in tests),
            "On the test set, where one prompt is tried, right answers are shuffled as well as "
            "guessed; the larger p counts, and for a claim times the number of openings",
            "fisher-1935",
        ),
        *(
            (name in quantizations, f"{name} is quantization to {known.words}", known.source)
            for name, known in QUANTIZATIONS.items()
            if known.words
        ),
    ]


def _of_label_bias(run: RunRecord) -> list[_Told]:
    records = label_checked(run)
    if not records:
        return []
    checks = {record.check for record in records}
    scores = {
        "the mean of the recalls without the largest one": checks & {"recall", "move"},
        "the least accuracy over redraws of right answers among all labels but one": (
            "redraw" in checks
        ),
    }
    held = (
        "; where right answers move to other labels, also with guessers who keep to one choice of "
        "each example wherever it moves; the guessers that are harder to beat count"
    )
    asked = [bias for record in records for bias in record.interactions]
    sources = {
        record.base_rate
        for record in records
        if any(with_base_rates(bias.labels) for bias in record.interactions)
    }
    used = {one.method for bias in asked for one in bias.calibrated}
    return [
        (
            True,
            f"The Nvr-X score is {' or '.join(score for score, by in scores.items() if by)}, "
            "compared with that of the best of t random guessers under the same "
            f"check{held if checks & {'move', 'redraw'} else ''}",
            "moore-2024",
        ),
        (True, "RStd is the standard deviation of the recalls", "zheng-2024"),
        (
            "control" in sources,
            "Base rates are the labels' probabilities in control texts that list them in changing "
            "orders without a question",
            "moore-2024",
        ),
        (
            "content_free" in sources,
            "Base rates are the labels' probabilities for meaningless inputs",
            "zhao-2021",
        ),
        (
            "contextual" in used,
            "Contextual calibration subtracts the labels' log-probabilities for meaningless inputs "
            "from the scores",
            "zhao-2021",
        ),
        (
            "pride" in used,
            "PriDe removes from the scores a prior that is estimated on held-back examples with "
            "rotated choices",
            "zheng-2024",
        ),
    ]


def _of_designs(run: RunRecord) -> list[_Told]:
    comparisons = compared(run)
    flipped: set[str] = {record.units for record in comparisons if record.units}
    sampled = [each.sampled for each in comparisons] + [each.sampled for each in checked(run)]
    for counts in sampled:
        flipped |= set(counts) or {"examples"}
    several = "; of several kinds of units in one comparison the largest p-value counts"
    over_tasks = ["tasks"] if run.over_tasks else []
    by = {record.test for record in run.best_models if record.models}
    kinds = [kind for kind in ("examples", "clusters", "prompts", "replicates") if kind in flipped]
    return [
        (
            [*kinds, *over_tasks],
            "Arms differ by the mean paired difference of accuracy, tested by flipping the signs "
            "of the differences of "
            f"{' or '.join([*kinds, *over_tasks])}{several if len(kinds) > 1 else ''}; a second "
            "test allows for losses too rare to be seen; the interval covers all differences that "
            "they do not reject",
            "fisher-1935",
        ),
        (
            any(record.adjusted_bh is not None for record in comparisons),
            "Each comparison is adjusted for the number of its tasks, q by the method that "
            "controls the false discovery rate, and by Holm's method",
            "benjamini-hochberg-1995",
            "holm-1979",
        ),
        (
            any(record.prompts for record in comparisons),
            "Whether a prompt has as many right answers in both arms is tested by McNemar's test, "
            "adjusted for the number of prompts by Holm's method",
            "mcnemar-1947",
            "holm-1979",
        ),
        (
            "exact" in by,
            "A model is better than another one if its best prompt beats each prompt of the other "
            "by an exact paired test, whose p-value is multiplied by the number of its own "
            f"prompts; {_PAIRS}",
            "mcnemar-1947",
            "holm-1979",
        ),
        (
            "resampled" in by,
            "A model is better than another one if its best prompt beats each prompt of the other "
            "by the reality check: examples are drawn with replacement, the same ones for all, and "
            f"the difference is compared with the largest rise of any of its prompts; {_PAIRS}",
            "white-2000",
            "holm-1979",
        ),
    ]


def _of_training(run: RunRecord) -> list[_Told]:
    claims = trained(run)
    trainings = [claim.training for claim in claims if claim.training is not None]
    settings = [each.settings for each in trainings if each.settings]
    used = {each["method"] for each in settings}
    forms = {each["form"] for each in settings}
    unlabelled = [each for each in trainings if each.text in ("extra", "scored")]
    models = [claim.model for claim in claims]
    return [
        (
            unlabelled,
            "Arms are trained further on the task's "
            f"{'prompts' if forms == {'prompt'} else 'texts'} without answers, the scored ones or "
            "as many others: does the benchmark's own text inflate its score?",
            "dubey-2024",
        ),
        (
            used & {"lora", "qlora"},
            "LoRA trains a low-rank adapter and leaves the weights as they are",
            "hu-2022",
        ),
        ("qlora" in used, "QLoRA does so with weights of 4 bits", "dettmers-2023"),
        (
            any(each.labelled for each in trainings),
            "A classification head reads the text alone, and is fine-tuned with all weights on "
            "labelled examples of the task",
            "devlin-2019",
        ),
        (
            any(each["objective"] == "masked" for each in settings),
            "The masked objective predicts tokens that are hidden from the model",
            "devlin-2019",
        ),
        (any(map(_BERT.search, models)), "BERT reads in both directions", "devlin-2019"),
        (any(map(_GPT2.search, models)), "GPT-2 predicts the next token", "radford-2019"),
    ]


def bibtex(run: RunRecord) -> str:
    """Write the BibTeX entries of the methods that a run used, each once."""
    references = dict.fromkeys(one for method in methods(run) for one in method.references)
    return "\n".join(one.bibtex for one in references)


@cache
def _library() -> dict[str, Reference]:
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {found.key: found for found in map(_reference, text.rstrip().split("\n\n"))}


def _reference(entry: str) -> Reference:
    key = entry.partition("{")[2].partition(",")[0]
    known: dict[str, str] = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    first, *others = (name.partition(",")[0] for name in known["author"].split(" and "))
    authors = first if not others else f"{first} and {others[0]}"
    link = known.get("url", "")
    number = link.rpartition("/")[2]
    place = f"doi:{known['doi']}" if link and "doi" in known else ""
    if "arxiv.org" in link:
        place = f"arXiv:{number}"
    elif "jstor.org" in link:
        place = f"JSTOR {number}"
    return Reference(
        key,
        f"{first} et al." if len(others) > 1 else authors,
        known["year"],
        place,
        link,
        f"{entry}\n",
    )

"""The statistical methods behind a run's numbers, in words and with their sources.

``references.bib`` beside this module has the sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.comparisons import checked, compared
from pytest_maxrandom.reports.label_bias import label_checked, with_base_rates
from pytest_maxrandom.reports.phrases import metric_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import ClaimRecord, RunRecord


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
    sources: tuple[str, ...]
    """Keys of BibTeX entries."""

    @property
    def references(self) -> list[Reference]:
        """The sources."""
        return [_library()[key] for key in self.sources]


_ADJUSTMENTS = {
    "holm": ("Holm's method, which holds the family-wise error", "holm-1979"),
    "bh": ("the method that holds the false discovery rate", "benjamini-hochberg-1995"),
}
_QUANTIZATIONS = {
    "nf4": ("4-bit NormalFloat", "dettmers-2023"),
    "fp4": ("4-bit floating point", "dettmers-2023"),
    "int8": ("8-bit integers", "dettmers-2022"),
}


def tested(run: RunRecord) -> list[ClaimRecord]:
    """List the claims that have a result."""
    return [claim for claim in run.claims if claim.verdict is not None]


def methods(run: RunRecord) -> list[Method]:
    """List what the numbers of a run rest on; nothing where nothing has a result."""
    return [*_of_claims(run), *_of_label_bias(run), *_of_designs(run)]


def _of_claims(run: RunRecord) -> Iterator[Method]:
    claims = tested(run)
    if not claims:
        return
    scores = " or ".join(dict.fromkeys(map(metric_name, claims)))
    compared = any(claim.p_max is not None for claim in claims)
    p_max = ", and p_max the probability that it is at least that of the best prompt"
    yield Method(
        f"The maximum random baseline is the expected {scores} of the best of t random "
        f"guessers on the same n examples{p_max if compared else ''}",
        ("yauney-mimno-2024",),
    )
    if any(claim.permutation_p is not None for claim in claims):
        article = "an" if scores.startswith("accuracy") else "a"
        yield Method(
            "The permutation p is the probability that the best of these prompts has as high "
            f"{article} {scores} on shuffled right answers; shuffling ends early where "
            "enough of them do as well",
            ("westfall-young-1993", "besag-clifford-1991"),
        )
    known = [claim.new_questions for claim in claims if claim.new_questions is not None]
    if known:
        yield Method(
            "The bound on new questions is the accuracy that the best of t prompts just does "
            "not reject, at a t-th of 5 %, however the prompts depend on each other",
            ("clopper-pearson-1934",),
        )
    if any(one.clusters is not None for one in known):
        yield Method(
            "Where examples stand in clusters, that bound is of as many examples as these are "
            "worth, with the tail of the binomial times e",
            ("bentkus-2004",),
        )
    if any(one.estimate is not None for one in known):
        yield Method(
            "The accuracy that is estimated for them is of the prompts that are best on "
            "resampled examples, on the examples that were not drawn",
            ("efron-tibshirani-1997",),
        )
    adjusted = sum(claim.adjusted_p is not None for claim in claims)
    if adjusted > 1 and run.adjustment in _ADJUSTMENTS:
        how, source = _ADJUSTMENTS[run.adjustment]
        yield Method(f"P-values are adjusted for {count(adjusted)} claims by {how}", (source,))
    if any(claim.clusters is not None for claim in claims):
        yield Method(
            "Where examples belong to clusters, the effective n is n^2 over the sum of squared "
            "cluster sizes: what n is worth where clusters are answered alike",
            ("kish-1965",),
        )
    if any(claim.test is not None for claim in claims):
        yield Method("Intervals on the test set are Wilson's score intervals", ("wilson-1927",))
    if any(claim.test is not None and claim.test.p is not None for claim in claims):
        yield Method(
            "On the test set, where one prompt is tried, right answers are shuffled as well as "
            "guessed; the larger p counts, and for a claim times the number of openings",
            ("fisher-1935",),
        )
    used = {claim.quantization for claim in claims}
    for name, (words, source) in _QUANTIZATIONS.items():
        if name in used:
            yield Method(f"{name} is quantization to {words}", (source,))


def _of_label_bias(run: RunRecord) -> Iterator[Method]:
    records = label_checked(run)
    if not records:
        return
    checks = {record.check for record in records}
    scores = []
    if checks & {"recall", "move"}:
        scores.append("the mean of the recalls without the largest one")
    if "redraw" in checks:
        scores.append("the least accuracy over redraws of right answers among all labels but one")
    held = ""
    if checks & {"move", "redraw"}:
        held = (
            "; where right answers stand at other labels, also with guessers who keep to one "
            "choice of each example wherever it stands; those that are harder to beat count"
        )
    yield Method(
        f"The Nvr-X score is {' or '.join(scores)}, compared with that of the best of t random "
        f"guessers whose answers are put through the same{held}",
        ("moore-2024",),
    )
    yield Method("RStd is the standard deviation of the recalls", ("zheng-2024",))
    asked = [bias for record in records for bias in record.interactions]
    sources = {
        record.base_rate
        for record in records
        if any(with_base_rates(bias.labels) for bias in record.interactions)
    }
    if "control" in sources:
        yield Method(
            "Base rates are the labels' probabilities in control texts that list them in "
            "changing orders without a question",
            ("moore-2024",),
        )
    if "content_free" in sources:
        yield Method(
            "Base rates are the labels' probabilities for inputs that say nothing", ("zhao-2021",)
        )
    used = {one.method for bias in asked for one in bias.calibrated}
    if "contextual" in used:
        yield Method(
            "Contextual calibration takes the labels' log-probabilities for inputs that say "
            "nothing from the scores",
            ("zhao-2021",),
        )
    if "pride" in used:
        yield Method(
            "PriDe takes a prior from the scores that is estimated on held-back examples with "
            "rotated choices",
            ("zheng-2024",),
        )


def _of_designs(run: RunRecord) -> Iterator[Method]:
    comparisons = compared(run)
    flipped: set[str] = {record.units for record in comparisons if record.units}
    sampled = [each.sampled for each in comparisons] + [each.sampled for each in checked(run)]
    for counts in sampled:
        flipped |= set(counts) or {"examples"}
    several = "; of several kinds of units in one comparison the largest p-value counts"
    several = several if len(flipped) > 1 else ""
    if run.over_tasks:
        flipped.add("tasks")
    if flipped:
        kinds = ("examples", "clusters", "prompts", "replicates", "tasks")
        units = " or ".join(unit for unit in kinds if unit in flipped)
        yield Method(
            "Arms differ by the mean paired difference of accuracy, tested by flipping the "
            f"signs of the differences of {units}{several}; a second test allows for losses "
            "too rare to be seen; the interval holds all differences that they do not reject",
            ("fisher-1935",),
        )
    if any(record.adjusted_bh is not None for record in comparisons):
        yield Method(
            "Each comparison is adjusted for the number of its tasks, q by the method that "
            "holds the false discovery rate, and by Holm's method",
            ("benjamini-hochberg-1995", "holm-1979"),
        )
    if any(record.prompts for record in comparisons):
        yield Method(
            "Whether a prompt has as many right answers in both arms is tested by McNemar's "
            "test, adjusted for the number of prompts by Holm's method",
            ("mcnemar-1947", "holm-1979"),
        )


def bibtex(run: RunRecord) -> str:
    """Write the BibTeX entries of the methods that a run used, each once."""
    references = dict.fromkeys(one for method in methods(run) for one in method.references)
    return "\n".join(one.bibtex for one in references)


@cache
def _library() -> dict[str, Reference]:
    """Read the sources, by their keys."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {found.key: found for found in map(_reference, text.rstrip().split("\n\n"))}


def _reference(entry: str) -> Reference:
    key = entry.partition("{")[2].partition(",")[0]
    known: dict[str, str] = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    first, *others = (name.partition(",")[0] for name in known["author"].split(" and "))
    authors = first if not others else f"{first} and {others[0]}"
    link = known.get("url", "")
    number = link.rpartition("/")[2]
    place = ""
    if "arxiv.org" in link:
        place = f"arXiv:{number}"
    elif "jstor.org" in link:
        place = f"JSTOR {number}"
    elif link:
        place = f"doi:{known['doi']}"
    return Reference(
        key,
        f"{first} et al." if len(others) > 1 else authors,
        known["year"],
        place,
        link,
        f"{entry}\n",
    )

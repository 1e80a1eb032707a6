"""The statistical methods behind a run's numbers, in words and with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.comparisons import checked, compared
from pytest_maxrandom.reports.phrases import metric_name

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication."""

    key: str
    """Of its BibTeX entry."""
    authors: str
    """As a citation in running text names them."""
    year: int
    place: str
    """Where it is found, in short; empty for a book."""
    link: str
    """The same, as an address."""
    entry: str
    """Type of its BibTeX entry."""
    fields: tuple[tuple[str, str], ...]
    """Of its BibTeX entry, as LaTeX, without year and address."""

    def bibtex(self) -> str:
        """Write the BibTeX entry."""
        fields = [*self.fields, ("year", str(self.year))]
        if self.link:
            fields.append(("url", self.link))
        lines = [f"  {name} = {{{value}}}" for name, value in fields]
        return f"@{self.entry}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True, slots=True)
class Method:
    """A method that was used: one sentence without its full stop, and where it comes from."""

    says: str
    references: tuple[Reference, ...]


YAUNEY_MIMNO = Reference(
    "yauney-mimno-2024",
    "Yauney and Mimno",
    2024,
    "arXiv:2404.13020",
    "https://arxiv.org/abs/2404.13020",
    "inproceedings",
    (
        ("author", "Yauney, Gregory and Mimno, David"),
        ("title", "Stronger Random Baselines for In-Context Learning"),
        ("booktitle", "First Conference on Language Modeling"),
        ("eprint", "2404.13020"),
        ("eprinttype", "arXiv"),
    ),
)
WESTFALL_YOUNG = Reference(
    "westfall-young-1993",
    "Westfall and Young",
    1993,
    "",
    "",
    "book",
    (
        ("author", "Westfall, Peter H. and Young, S. Stanley"),
        (
            "title",
            "Resampling-Based Multiple Testing: Examples and Methods for {$p$}-Value Adjustment",
        ),
        ("publisher", "Wiley"),
        ("address", "New York"),
        ("isbn", "978-0-471-55761-6"),
    ),
)
BESAG_CLIFFORD = Reference(
    "besag-clifford-1991",
    "Besag and Clifford",
    1991,
    "doi:10.1093/biomet/78.2.301",
    "https://doi.org/10.1093/biomet/78.2.301",
    "article",
    (
        ("author", "Besag, Julian and Clifford, Peter"),
        ("title", "Sequential {Monte} {Carlo} {$p$}-values"),
        ("journal", "Biometrika"),
        ("volume", "78"),
        ("number", "2"),
        ("pages", "301--304"),
        ("doi", "10.1093/biomet/78.2.301"),
    ),
)
HOLM = Reference(
    "holm-1979",
    "Holm",
    1979,
    "JSTOR 4615733",
    "https://www.jstor.org/stable/4615733",
    "article",
    (
        ("author", "Holm, Sture"),
        ("title", "A Simple Sequentially Rejective Multiple Test Procedure"),
        ("journal", "Scandinavian Journal of Statistics"),
        ("volume", "6"),
        ("number", "2"),
        ("pages", "65--70"),
    ),
)
BENJAMINI_HOCHBERG = Reference(
    "benjamini-hochberg-1995",
    "Benjamini and Hochberg",
    1995,
    "doi:10.1111/j.2517-6161.1995.tb02031.x",
    "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
    "article",
    (
        ("author", "Benjamini, Yoav and Hochberg, Yosef"),
        (
            "title",
            "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple "
            "Testing",
        ),
        ("journal", "Journal of the Royal Statistical Society: Series B (Methodological)"),
        ("volume", "57"),
        ("number", "1"),
        ("pages", "289--300"),
        ("doi", "10.1111/j.2517-6161.1995.tb02031.x"),
    ),
)
WILSON = Reference(
    "wilson-1927",
    "Wilson",
    1927,
    "doi:10.1080/01621459.1927.10502953",
    "https://doi.org/10.1080/01621459.1927.10502953",
    "article",
    (
        ("author", "Wilson, Edwin B."),
        ("title", "Probable Inference, the Law of Succession, and Statistical Inference"),
        ("journal", "Journal of the American Statistical Association"),
        ("volume", "22"),
        ("number", "158"),
        ("pages", "209--212"),
        ("doi", "10.1080/01621459.1927.10502953"),
    ),
)
QLORA = Reference(
    "dettmers-2023",
    "Dettmers et al.",
    2023,
    "arXiv:2305.14314",
    "https://arxiv.org/abs/2305.14314",
    "inproceedings",
    (
        (
            "author",
            "Dettmers, Tim and Pagnoni, Artidoro and Holtzman, Ari and Zettlemoyer, Luke",
        ),
        ("title", "{QLoRA}: Efficient Finetuning of Quantized {LLMs}"),
        ("booktitle", "Advances in Neural Information Processing Systems"),
        ("volume", "36"),
        ("eprint", "2305.14314"),
        ("eprinttype", "arXiv"),
    ),
)
LLM_INT8 = Reference(
    "dettmers-2022",
    "Dettmers et al.",
    2022,
    "arXiv:2208.07339",
    "https://arxiv.org/abs/2208.07339",
    "misc",
    (
        ("author", "Dettmers, Tim and Lewis, Mike and Belkada, Younes and Zettlemoyer, Luke"),
        ("title", "{LLM.int8()}: 8-bit Matrix Multiplication for Transformers at Scale"),
        ("eprint", "2208.07339"),
        ("eprinttype", "arXiv"),
    ),
)
FISHER = Reference(
    "fisher-1935",
    "Fisher",
    1935,
    "",
    "",
    "book",
    (
        ("author", "Fisher, Ronald A."),
        ("title", "The Design of Experiments"),
        ("publisher", "Oliver and Boyd"),
        ("address", "Edinburgh"),
    ),
)
MCNEMAR = Reference(
    "mcnemar-1947",
    "McNemar",
    1947,
    "doi:10.1007/BF02295996",
    "https://doi.org/10.1007/BF02295996",
    "article",
    (
        ("author", "McNemar, Quinn"),
        (
            "title",
            "Note on the Sampling Error of the Difference Between Correlated Proportions or "
            "Percentages",
        ),
        ("journal", "Psychometrika"),
        ("volume", "12"),
        ("number", "2"),
        ("pages", "153--157"),
        ("doi", "10.1007/BF02295996"),
    ),
)

_ADJUSTMENTS = {
    "holm": ("Holm's method, which holds the family-wise error", HOLM),
    "bh": ("the method that holds the false discovery rate", BENJAMINI_HOCHBERG),
}
_QUANTIZATIONS = {
    "nf4": ("4-bit NormalFloat", QLORA),
    "fp4": ("4-bit floating point", QLORA),
    "int8": ("8-bit integers", LLM_INT8),
}


def tested(run: RunRecord) -> list[ClaimRecord]:
    """List the claims that have a result."""
    return [claim for claim in run.claims if claim.p_max is not None]


def methods(run: RunRecord) -> list[Method]:
    """List what the numbers of a run rest on; nothing where nothing has a result."""
    return [*_of_claims(run), *_of_designs(run)]


def _of_claims(run: RunRecord) -> list[Method]:
    claims = tested(run)
    if not claims:
        return []
    scores = " or ".join(dict.fromkeys(map(metric_name, claims)))
    found = [
        Method(
            f"The maximum random baseline is the expected {scores} of the best of t random "
            "guessers on the same n examples, and p_max the probability that it is at least that "
            "of the best prompt",
            (YAUNEY_MIMNO,),
        )
    ]
    if any(claim.permutation_p is not None for claim in claims):
        found.append(
            Method(
                "The permutation p is the probability that the best of these prompts has as high "
                "an accuracy on shuffled right answers; shuffling ends early where enough of them "
                "do as well",
                (WESTFALL_YOUNG, BESAG_CLIFFORD),
            )
        )
    adjusted = sum(claim.adjusted_p is not None for claim in claims)
    if adjusted > 1 and run.adjustment in _ADJUSTMENTS:
        how, source = _ADJUSTMENTS[run.adjustment]
        found.append(
            Method(f"P-values are adjusted for {count(adjusted)} claims by {how}", (source,))
        )
    if any(claim.test is not None for claim in claims):
        found.append(Method("Intervals on the test set are Wilson's score intervals", (WILSON,)))
    used = {claim.quantization for claim in claims}
    for name, (words, source) in _QUANTIZATIONS.items():
        if name in used:
            found.append(Method(f"{name} is quantization to {words}", (source,)))
    return found


def _of_designs(run: RunRecord) -> list[Method]:
    comparisons = compared(run)
    flipped: set[str] = {record.units for record in comparisons if record.units}
    several = "; of examples and of replicates the larger p-value counts"
    if checked(run) or any(record.replicates > 1 for record in comparisons):
        flipped |= {"examples", "replicates"}
    if run.over_tasks:
        flipped.add("tasks")
    found = []
    if flipped:
        units = " or ".join(unit for unit in ("examples", "replicates", "tasks") if unit in flipped)
        found.append(
            Method(
                "Arms differ by the mean paired difference of accuracy, tested by flipping the "
                f"signs of the differences of {units}{several if 'replicates' in flipped else ''}; "
                "its interval holds all differences that this test does not reject",
                (FISHER,),
            )
        )
    if any(record.adjusted_bh is not None for record in comparisons):
        found.append(
            Method(
                "Each comparison is adjusted for the number of its tasks, q by the method that "
                "holds the false discovery rate, and by Holm's method",
                (BENJAMINI_HOCHBERG, HOLM),
            )
        )
    if any(record.prompts for record in comparisons):
        found.append(
            Method(
                "Whether a prompt has as many right answers in both arms is tested by McNemar's "
                "test, adjusted for the number of prompts by Holm's method",
                (MCNEMAR, HOLM),
            )
        )
    return found


def bibtex(run: RunRecord) -> str:
    """Write the BibTeX entries of the methods that a run used, each once."""
    references = dict.fromkeys(one for method in methods(run) for one in method.references)
    return "\n".join(one.bibtex() for one in references)

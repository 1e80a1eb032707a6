"""The publications that reports cite, with their BibTeX entries."""

from __future__ import annotations

from dataclasses import dataclass


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
CLOPPER_PEARSON = Reference(
    "clopper-pearson-1934",
    "Clopper and Pearson",
    1934,
    "doi:10.1093/biomet/26.4.404",
    "https://doi.org/10.1093/biomet/26.4.404",
    "article",
    (
        ("author", "Clopper, C. J. and Pearson, E. S."),
        (
            "title",
            "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
        ),
        ("journal", "Biometrika"),
        ("volume", "26"),
        ("number", "4"),
        ("pages", "404--413"),
        ("doi", "10.1093/biomet/26.4.404"),
    ),
)
BENTKUS = Reference(
    "bentkus-2004",
    "Bentkus",
    2004,
    "doi:10.1214/009117904000000360",
    "https://doi.org/10.1214/009117904000000360",
    "article",
    (
        ("author", "Bentkus, Vidmantas"),
        ("title", "On {Hoeffding}'s Inequalities"),
        ("journal", "The Annals of Probability"),
        ("volume", "32"),
        ("number", "2"),
        ("pages", "1650--1673"),
        ("doi", "10.1214/009117904000000360"),
    ),
)
EFRON_TIBSHIRANI = Reference(
    "efron-tibshirani-1997",
    "Efron and Tibshirani",
    1997,
    "doi:10.1080/01621459.1997.10474007",
    "https://doi.org/10.1080/01621459.1997.10474007",
    "article",
    (
        ("author", "Efron, Bradley and Tibshirani, Robert"),
        ("title", "Improvements on Cross-Validation: The .632+ Bootstrap Method"),
        ("journal", "Journal of the American Statistical Association"),
        ("volume", "92"),
        ("number", "438"),
        ("pages", "548--560"),
        ("doi", "10.1080/01621459.1997.10474007"),
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
KISH = Reference(
    "kish-1965",
    "Kish",
    1965,
    "",
    "",
    "book",
    (
        ("author", "Kish, Leslie"),
        ("title", "Survey Sampling"),
        ("publisher", "Wiley"),
        ("address", "New York"),
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
MOORE = Reference(
    "moore-2024",
    "Moore et al.",
    2024,
    "arXiv:2406.11634",
    "https://arxiv.org/abs/2406.11634",
    "inproceedings",
    (
        (
            "author",
            "Moore, Kyle and Roberts, Jesse and Pham, Thao and Ewaleifoh, Oseremhen and "
            "Fisher, Douglas",
        ),
        (
            "title",
            "The Base-Rate Effect on {LLM} Benchmark Performance: Disambiguating Test-Taking "
            "Strategies from Benchmark Performance",
        ),
        ("booktitle", "Findings of the Association for Computational Linguistics: EMNLP 2024"),
        ("pages", "2283--2288"),
        ("doi", "10.18653/v1/2024.findings-emnlp.126"),
        ("eprint", "2406.11634"),
        ("eprinttype", "arXiv"),
    ),
)
ZHENG = Reference(
    "zheng-2024",
    "Zheng et al.",
    2024,
    "arXiv:2309.03882",
    "https://arxiv.org/abs/2309.03882",
    "inproceedings",
    (
        (
            "author",
            "Zheng, Chujie and Zhou, Hao and Meng, Fandong and Zhou, Jie and Huang, Minlie",
        ),
        ("title", "Large Language Models Are Not Robust Multiple Choice Selectors"),
        ("booktitle", "The Twelfth International Conference on Learning Representations"),
        ("eprint", "2309.03882"),
        ("eprinttype", "arXiv"),
    ),
)
ZHAO = Reference(
    "zhao-2021",
    "Zhao et al.",
    2021,
    "arXiv:2102.09690",
    "https://arxiv.org/abs/2102.09690",
    "inproceedings",
    (
        (
            "author",
            "Zhao, Tony Z. and Wallace, Eric and Feng, Shi and Klein, Dan and Singh, Sameer",
        ),
        (
            "title",
            "Calibrate Before Use: Improving Few-Shot Performance of Language Models",
        ),
        ("booktitle", "Proceedings of the 38th International Conference on Machine Learning"),
        ("pages", "12697--12706"),
        ("eprint", "2102.09690"),
        ("eprinttype", "arXiv"),
    ),
)

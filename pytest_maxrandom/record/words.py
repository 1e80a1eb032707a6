"""Closed vocabularies, each with all that is shown of its words: standings, outcomes, reservations.

A word is the same in JSON and on a screen; whoever shows it reads these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Standing = Literal["above maximum", "between baselines", "at standard", "below standard"]
"""Where the best of t prompts stands, compared with what one guesser and the best of t expect."""
Outcome = Literal[
    "passed", "failed", "xfailed", "xpassed", "skipped", "error",
    "cannot tell", "cannot tell, as allowed",
]  # fmt: skip
"""What became of a test: pytest's words, and two for results that can neither show nor refute what
is asserted. pytest knows these as a failure; as a pass where the suite allows them."""
Reserved = Literal[
    "gone", "deselected", "weakened", "skipped", "xfailed", "uncompared", "restarted", "uncounted"
]
"""What a gate holds against a verdict: since the base a claim is no more, is not selected, asks
less, is skipped, is expected to fail, may ask less, or has a t that begins anew; or its tries are
in no committed ledger."""
NotCompared = Literal["unknown", "declined"]
"""Why a gate compared nothing with a base: none was known, or none was wanted."""
Weaker = Literal[
    "asserts",
    "red_flags",
    "clusters",
    "count",
    "budget",
    "recorded",
    "unverified",
    "t",
    "chance",
    "source",
    "read",
    "judge",
    "incumbent",
    "control",
    "asked",
    "ran",
    "unread",
    "untold",
    "computed",
]
"""In what a claim asks less than it did, or why that is not known."""
SCORE = "score"
"""What a claim about graded scores is about, in the place of a metric of right answers."""
BY_HAND = "numbers"
"""What stands in place of a backend in the record of a claim that a test writes by hand."""
SIMULATION = "simulated"
"""What stands in place of a simulated model's name that looks like one of a real model."""
PassesOn = Literal["p_max only", "union p only", "baseline only"]
"""On what a claim passes where right answers were not shuffled: a preferred label may as well."""
Colour = Literal["red", "green", "yellow"]
"""Of a terminal."""


@dataclass(frozen=True, slots=True)
class ShownStanding:
    """How a standing is shown."""

    sign: str
    latex: str
    """The same sign, which no font of pdflatex has."""
    brief: str
    """In a grid."""
    clause: str
    """``above the maximum random baseline``."""
    mark: tuple[str, str, str]
    """In figures: matplotlib's name of the shape, the colours of its face and of its edge."""
    is_above: tuple[str, ...] = ()
    """What it is above, as `beats` of a suite names it."""


_BLACK, _WHITE, _ORANGE = "#000000", "#FFFFFF", "#E69F00"

STANDINGS: dict[Standing, ShownStanding] = {
    "above maximum": ShownStanding(
        "●", r"$\bullet$", "above", "above the maximum random baseline",
        ("o", _BLACK, _BLACK), is_above=("standard", "max_random"),
    ),
    "between baselines": ShownStanding(
        "◐", r"$\odot$", "between", "between the two baselines",
        ("D", _WHITE, _BLACK), is_above=("standard",),
    ),
    "at standard": ShownStanding(
        "◔", r"$\ominus$", "at standard", "at the standard baseline", ("s", _WHITE, _ORANGE),
    ),
    "below standard": ShownStanding(
        "○", r"$\circ$", "below", "below the standard baseline", ("X", _ORANGE, _BLACK),
    ),
}  # fmt: skip
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class ShownOutcome:
    """How it is shown what became of a record."""

    sign: str
    one: str
    """Said of one record: ``fails``."""
    more: str
    """Said of several: ``fail``."""
    colour: Colour | None
    """pytest's, in a terminal."""
    word: str = ""
    """In a table; as of one record if empty."""
    brief: str = ""
    """In a narrow terminal, whose reader knows pytest's marks."""
    fell: str = ""
    """Said of a record that passed before."""
    again: str = ""
    """Said of one that ended so before."""
    fails_run: bool = False
    tested: bool = False
    """Whether the claim was tested, whatever that told."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", self.word or self.one)


REPORTED: Literal["reported"] = "reported"
"""What became of a record that asserts nothing and has its numbers."""
ALLOWED: Literal["cannot tell, as allowed"] = "cannot tell, as allowed"
"""What became of a check whose results cannot tell, where the suite lets that be."""


def _on(what: PassesOn, article: str = "") -> ShownOutcome:
    on = f"on {article}{what}"
    return ShownOutcome(
        "✅", f"passes {on}", f"pass {on}", "yellow", f"passes ({what})", tested=True
    )


OUTCOMES: dict[str | None, ShownOutcome] = {
    "failed": ShownOutcome(
        "❌", "fails", "fail", "red",
        fell="newly fails", again="fails as before", fails_run=True, tested=True,
    ),
    "xpassed": ShownOutcome(
        "❌", "passes unexpectedly", "pass unexpectedly", "red", brief="xpasses",
        fell="newly passes unexpectedly", again="passes unexpectedly as before",
        fails_run=True, tested=True,
    ),
    "cannot tell": ShownOutcome(
        "❔", "cannot tell", "cannot tell", "red",
        fell="no longer passes, because its results cannot tell",
        again="still cannot tell", fails_run=True, tested=True,
    ),
    "error": ShownOutcome(
        "⚠️", "could not be tested", "could not be tested", "red", "error",
        fell="can no longer be tested", again="still cannot be tested", fails_run=True,
    ),
    None: ShownOutcome(
        "⚠️", "has no result", "have no result", "red", "no result",
        fell="has no result any more", again="still has no result", fails_run=True,
    ),
    "passed": ShownOutcome("✅", "passes", "pass", "green", tested=True),
    "union p only": _on("union p only", "the "),
    "p_max only": _on("p_max only"),
    "baseline only": _on("baseline only", "the "),
    REPORTED: ShownOutcome("📋", "is reported", "are reported", None, "reported"),
    ALLOWED: ShownOutcome(
        "❔", "cannot tell, as allowed", "cannot tell, as allowed", "yellow", brief="cannot tell",
        fell="no longer passes, because its results cannot tell",
        again="still cannot tell, as allowed", tested=True,
    ),
    "xfailed": ShownOutcome(
        "☑️", "fails as expected", "fail as expected", "yellow", brief="xfails",
        fell="no longer passes, and is expected to fail now", tested=True,
    ),
    "skipped": ShownOutcome(
        "⏭️", "was skipped", "were skipped", "yellow", "skipped",
        fell="is skipped now", again="is skipped as before",
    ),
}  # fmt: skip
"""What fails a run first; None is a record without an outcome."""

FAILING = tuple(key for key, shown in OUTCOMES.items() if shown.fails_run)
"""Outcomes that fail a run, the gravest first."""
TESTED = tuple(key for key, shown in OUTCOMES.items() if shown.tested)
"""Outcomes of what was tested, whatever it told."""
SETTLED = tuple(key for key in TESTED if key not in FAILING)
"""Outcomes that nobody has to look at."""


@dataclass(frozen=True, slots=True)
class ShownReservation:
    """How it is shown what a gate holds against a verdict."""

    sign: str
    one: str
    more: str
    """Behind a number of claims: ``is gone``, ``are gone``."""


AMBER = "🟠"
"""The sign of a run that passes with reservations."""
RESERVED: dict[Reserved, ShownReservation] = {
    "gone": ShownReservation("🗑️", "is gone", "are gone"),
    "deselected": ShownReservation("🙈", "is deselected", "are deselected"),
    "weakened": ShownReservation("🔓", "was weakened", "were weakened"),
    "skipped": ShownReservation("⏭️", "is skipped now", "are skipped now"),
    "xfailed": ShownReservation("☑️", "is excused now (xfail)", "are excused now (xfail)"),
    "uncompared": ShownReservation("❔", "cannot be compared", "cannot be compared"),
    "restarted": ShownReservation("🔄", "counts its tries anew", "count their tries anew"),
    "uncounted": ShownReservation(
        "🧾", "has tries in no committed ledger", "have tries in no committed ledger"
    ),
}
"""The gravest first."""
NOT_COMPARED: dict[NotCompared, str] = {
    "unknown": "no base is known here; name its branch or commit with --base-ref (base-ref of the "
    "action)",
    "declined": "--base-ref none (base-ref of the action) asks for that",
}
WEAKER: dict[Weaker, str] = {
    "asserts": "what is asserted",
    "red_flags": "a red flag does less",
    "clusters": "no clusters are declared",
    "count": "t counts the prompts of this claim alone",
    "budget": "the declared budget is smaller",
    "recorded": "the results are recorded, and no model is run",
    "unverified": "its files are loaded without being verified",
    "t": "the stated t is smaller",
    "chance": "another chance is stated",
    "source": "the results of another task or model are read",
    "read": "the results are read otherwise, as by other columns or another metric",
    "judge": "it is judged by other published numbers",
    "incumbent": "it is compared with another incumbent, or by another test",
    "control": "it is compared with no control, another one, or by another test",
    "asked": "the check is asked for otherwise",
    "ran": "the run asserted less than the suite says",
    "unread": "nobody can read what the base claims there",
    "untold": "what the base does with it is not known",
    "computed": "what it asserts is computed, and the code changed",
}


def looks_real(name: str) -> bool:
    """Tell whether a name says where a model is: a hub id, a path, or a file of weights.

    Examples
    --------
    >>> [*map(looks_real, ["mock", "careful guesser", "allenai/OLMo-7B-hf", "llama.gguf"])]
    [False, False, True, True]
    """
    return "/" in name or name.startswith(("~", ".")) or name.endswith((".gguf", ".safetensors"))

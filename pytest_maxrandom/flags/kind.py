"""What a red flag is: what its check looks at and finds, its definition, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_maxrandom.host.packages import RED_FLAGS, NamedParts
from pytest_maxrandom.record.claim import Measure, Shortcuts

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.notation import Unmet
    from pytest_maxrandom.record import HeuristicName
    from pytest_maxrandom.record.base import Severity
    from pytest_maxrandom.record.result import Result

Parameters: TypeAlias = Mapping[str, Any]
Parts: TypeAlias = Mapping[str, Callable[[Parameters], Any]]
Topic = Literal["knowledge", "scores", "examples", "prompts"]
TOPICS: Mapping[Topic, str] = {
    "knowledge": "The model does not show knowledge",
    "scores": "Texts, scores or answers are wrong",
    "examples": "n or chance is wrong",
    "prompts": "t, or what was compared, is wrong",
}
"""What red flags show, as a reader looks for them."""


@dataclass(frozen=True)
class Compared:
    """What the best prompt reaches, and what is reached without knowledge."""

    measure: Measure
    """What all of it is."""
    best: Fraction
    """The best prompt's."""
    heuristics: Mapping[HeuristicName, Fraction]
    """That of each heuristic, at least one."""
    heuristic_p: float
    """Of "the best prompt is above the hardest of them"."""
    choices_only: Fraction | None = None
    choices_only_p: float | None = None
    """The same with blank inputs; None where the prompt was not asked so."""
    one_label: bool = False
    """Whether it gives all of these the same label."""

    @property
    def hardest(self) -> HeuristicName:
        """The heuristic that reaches most; the first of several."""
        return max(self.heuristics, key=self.heuristics.__getitem__)

    def record(self) -> Shortcuts:
        """Return the numbers as reports show them."""
        return Shortcuts(
            measure=self.measure,
            best=float(self.best),
            heuristic=self.hardest,
            heuristic_score=float(self.heuristics[self.hardest]),
            heuristic_p=self.heuristic_p,
            heuristics={name: float(score) for name, score in self.heuristics.items()},
            choices_only=None if self.choices_only is None else float(self.choices_only),
            choices_only_p=self.choices_only_p,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedAnswers:
    """Answers, what is declared of them, and the verdict."""

    read: Answers
    """As they were read: prompts may repeat."""
    t: int
    """Number of prompts that the claim counts."""
    chance: Fraction
    """Mean chance of one guess that the claim counts with; 0 where no guess has one."""
    declared_chance: Fraction | dict[int, int] | None = None
    """Chance that is stated, or {number of choices: number of examples}."""
    declared_n: int | None = None
    """Number of examples that is stated."""
    comparable: bool = False
    """Whether a model could give one label to all examples: it is a text, or a place in a list that
    the model is shown."""
    full_texts: int = 0
    """(prompt, example) pairs of which a text is exactly as long as the model's context."""
    asked: int | None = None
    """Number of prompts that were asked for; None where fewer were to be expected."""
    metric: str = "accuracy"
    """What the claim is about."""
    constants: tuple[float, ...] = ()
    """Where that is not accuracy, per label the score of giving it to all examples."""
    result: Result | None = None
    """The verdict, before red flags are looked at; None where nothing was judged."""
    impossible: tuple[Unmet, ...] = ()
    """Parts of the claim that no result could meet; empty where one could."""
    compared: Compared | None = None
    """The best prompt compared with heuristics; None without texts."""
    others: tuple[Answers, ...] = ()
    """Those of other models, asked the same."""
    orders_tested: bool = False
    """Whether other orders of the things that examples compare were tried."""

    @cached_property
    def answers(self) -> Answers:
        """Those of the distinct prompts."""
        return self.read.distinct()

    @property
    def passing(self) -> Result | None:
        """The result of a claim that passes by its numbers; None of any other."""
        return self.result if self.result is not None and self.result.passed else None


@dataclass(frozen=True, slots=True)
class Flag:
    """What a check finds."""

    kind: str
    """What is found."""
    parameters: Parameters = field(default_factory=dict, hash=False)
    """Numbers and names, of builtin types. Where a kind is found in several ways, `case` says
    how."""
    mild: bool = False
    """Whether it warns where others of its kind fail by default."""
    untold: str = ""
    """Kind of the remark why a claim neither passes nor fails, where others of its kind fail it."""


Found: TypeAlias = Iterator[Flag]


@dataclass(frozen=True, eq=False, kw_only=True)
class RedFlagKind:
    """A kind of red flag, with everything about it but its page and its test.

    Sentences are templates of a flag's parameters; :mod:`pytest_maxrandom.reports` fills them, and
    knows how a value is written after a colon (``{share:percent}``).

    A package adds one by an entry point of the group ``pytest_maxrandom.red_flags``, whose name is
    the kind. Every claim is then looked at. Where the check raises, or yields anything but `Flag`
    of this kind with parameters that JSON can hold, the claim's report has a warning with the
    error and the package's name, and all else is as without it.
    """

    kind: str
    """Its name; of those here also that of its module and of its page."""
    rank: int = 1000
    """Its place among all: what makes the numbers wrong comes first."""
    topic: Topic
    """Which of `TOPICS` it belongs to."""
    default: Severity
    """What it does to a claim where a suite says nothing: what makes n, t, chance or the scores
    wrong fails it, and so does what shows that a preferred label, or who reads no question, would
    pass as well."""
    description: str
    """What is found, in a sentence for the schema and the reference."""
    sentences: str | Mapping[str, str]
    """What was found and what to look at; for each `case` where there are several."""
    brief: str
    remedy: str
    """What to do, in a few words."""
    check: Callable[[JudgedAnswers], Iterable[Flag]]
    """Finds it; yields nothing where there is none. It must not change what it looks at."""
    brief_of: str = ""
    """The same in a few words; of what was found, where these may say more."""
    remedy_of: str = ""
    """What to do about what was found, where that is not always the same."""
    parts: Parts = field(default_factory=dict)
    """What a sentence says of several parameters, or of one that may be missing, by its name."""
    reads_labels: bool = False
    """Whether it depends on which answers have the same label, so that each way of reading labels
    is looked at."""
    of_maximum: bool = False
    """Whether it can be found where only the best prompt's accuracy was published."""
    of_scores: bool = False
    """Whether it can be found where no guess has a chance, as of graded scores."""
    page: str = ""
    """Address of a page about it, of a package's; those here are in the documentation."""

    def sentence(self, case: str | None) -> str | None:
        """Return the template of a case; None where there is none of that name."""
        if isinstance(self.sentences, str):
            return self.sentences if case is None else None
        return self.sentences.get(case or "")


class RedFlagKinds(Mapping[str, RedFlagKind]):
    """All kinds of red flags by their names, in the order of their ranks.

    They are read when they are first needed: reports that show none need no NumPy.
    """

    def __init__(self, read: Callable[[], Iterable[RedFlagKind]]) -> None:
        self._read = read

    @cached_property
    def parts(self) -> NamedParts[RedFlagKind]:
        """The built-in ones, and those of packages."""
        built_in = {each.kind: each for each in sorted(self._read(), key=_rank)}
        return NamedParts(RED_FLAGS, built_in, _usable)

    @property
    def _kinds(self) -> Mapping[str, RedFlagKind]:
        if not (added := self.parts.added()):
            return self.parts.built_in
        known = [*self.parts.built_in.values(), *added.values()]
        return {each.kind: each for each in sorted(known, key=_rank)}

    def __getitem__(self, kind: str) -> RedFlagKind:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def defaults(self) -> dict[str, Severity]:
        """Return what each kind does to a claim where a suite says nothing."""
        return {kind: definition.default for kind, definition in self._kinds.items()}


def _rank(definition: RedFlagKind) -> int:
    return definition.rank


def _usable(name: str, loaded: Any) -> RedFlagKind:
    if (
        not isinstance(loaded, RedFlagKind)
        or loaded.kind != name
        or loaded.default not in ("fail", "warn", "ignore")
    ):
        raise TypeError(
            f"pytest_maxrandom.flags.RedFlagKind with `kind={name!r}` and a default of fail, warn "
            "or ignore"
        )
    return loaded

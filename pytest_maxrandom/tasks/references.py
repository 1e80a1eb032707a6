"""Open answers: of which kind a reference is, and when what was said is one of them.

A reference is the text of a right answer; an example may have several (aliases).
"""

from __future__ import annotations

import functools
import re
import string
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.tasks.mathematics import is_same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.prompts import ExactMatchSpec, TextPart

PARTS: tuple[TextPart, ...] = ("case", "punctuation", "articles", "spaces")
"""All that of a text may not count; written out, since reports import this without pydantic."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)
_BETWEEN_WORDS = re.compile(" |-")

_NUMBER = re.compile(
    r"[-+\u2212]?\s?[$\u20ac\u00a3\u00a5]?\s?"
    r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE]([-+]?\d{1,3}))?\s?%?"
)
_QUOTIENT = re.compile(r"([-+\u2212]?\d{1,15})\s?/\s?(\d{1,15})")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(
    rf"\d{{4}}-\d{{1,2}}(-\d{{1,2}})?|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}|(1[5-9]|20)\d\d"
    rf"|(?=.*\d)(?=.*\b({_MONTHS})[a-z]*\b)[\w ,.]+",
    re.IGNORECASE,
)
_YES_NO = {"yes", "no", "true", "false"}
_LETTER = re.compile(r"\(?[A-Z][).]?")
_SMALL = {"of", "the", "and", "de", "la", "le", "von", "van", "der", "in", "on", "at", "for", "to"}


@functools.lru_cache(maxsize=2**16)
def number_of(text: str) -> Fraction | None:
    """Return the number that a text is, with its sign, separators, currency or per cent; else None.

    Examples
    --------
    >>> number_of(" $1,200.50 "), number_of("3/4"), number_of("12 apples")
    (Fraction(2401, 2), Fraction(3, 4), None)
    """
    bare = text.strip().rstrip(".")
    negative = bare[:1] in ("-", "\u2212")
    if (found := _NUMBER.fullmatch(bare)) is not None:
        value = Fraction(found[1].replace(",", "")) * Fraction(10) ** int(found[2] or 0)
        return -value if negative else value
    if (found := _QUOTIENT.fullmatch(bare)) is not None and int(found[2]):
        value = Fraction(abs(int(found[1].replace("\u2212", "-"))), int(found[2]))
        return -value if negative else value
    return None


def kind_of(reference: str) -> str:
    """Return of which kind a reference is, by rule: yes/no, letter, date, number, name or other.

    A year stands with the dates, whatever it counts.

    Examples
    --------
    >>> [kind_of(text) for text in ("No", "B", "1969", "3.5", "Marie Curie", "a red ball")]
    ['yes/no', 'letter', 'date', 'number', 'name', 'other']
    """
    bare = reference.strip().rstrip(".")
    if bare.casefold() in _YES_NO:
        return "yes/no"
    if _LETTER.fullmatch(reference.strip()):
        return "letter"
    if _DATE.fullmatch(bare):
        return "date"
    if number_of(bare) is not None:
        return "number"
    words = [word for word in bare.split() if word.casefold() not in _SMALL]
    if words and all(word[0].isupper() or word[0].isdigit() for word in words):
        return "name"
    return "other"


@dataclass(frozen=True, slots=True)
class Open:
    """What makes an example one without choices, whose answer may be any text."""

    kind: str
    """What sort of text its right answer is, such as "number": right answers can stand for each
    other where they are of one kind (`kind_of`)."""
    tolerance: float = 0.0
    """By how much a number may be off."""
    relative: bool = False
    """Whether that is a share of the right number."""

    def most_off(self, right: Fraction) -> Fraction:
        """Return by how much at most a number may be off the right one."""
        return Fraction(str(self.tolerance)) * (abs(right) if self.relative else 1)


@dataclass(frozen=True, slots=True)
class Filter:
    """One step by which an answer is taken out of what was written, as lm-evaluation-harness."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """How open answers are read, and when one is a reference.

    The defaults are SQuAD's normalisation, and numbers are compared as numbers, which that would
    take for the same without their decimal points.
    """

    parts: tuple[TextPart, ...] = PARTS
    """What of a text does not count."""
    numbers: bool = True
    """Whether numbers are compared by their values, however they are written."""
    math: bool = False
    """Whether texts are compared as mathematics."""
    ignored: tuple[str, ...] = ()
    """Regular expressions whose matches are taken out of both texts, first of all."""
    digits: bool = True
    """Whether digits count."""
    signs: bool = field(default=False, repr=False)
    """Whether punctuation counts in a text of nothing else: else + and - are the same."""
    edges: bool = True
    """Whether punctuation and spaces at the ends of a text count."""
    place: Literal["whole", "begin", "end", "anywhere"] = "whole"
    """Where in an answer a reference stands, where other words may stand beside it."""
    drop: bool = False
    """Whether texts are compared as DROP's script does, and as nothing above says."""
    filters: tuple[Filter, ...] = ()
    """How an answer is taken out of what was written, where the suite gives no pattern."""
    stop: tuple[str, ...] | None = None
    """Texts at which an answer ends, and"""
    max_tokens: int | None = None
    """how long it may be, where the suite says nothing of these."""

    @classmethod
    def of(cls, spec: ExactMatchSpec) -> Matching:
        """Return what a suite says."""
        parts = tuple(part for part in PARTS if part in spec.normalise)
        return cls(() if spec.math else parts, spec.numbers, spec.math, signs=True)

    @property
    def content(self) -> str:
        """What tells it from others, for digests."""
        alike = "punctuation" in self.parts and not self.signs
        return f"{self!r}, signs alike" if alike else repr(self)

    @property
    def digest(self) -> str:
        """What tells the rule from others: how answers are read and compared, not when they end."""
        return digest("matching", replace(self, stop=None, max_tokens=None).content)

    def normal(self, text: str) -> str:
        """Return what of a text counts."""
        return _normal(self, text)

    def number(self, text: str) -> Fraction | None:
        """Return the number that counts in place of a text; None where the text itself does."""
        return number_of(text) if self.numbers else None

    def key(self, text: str) -> tuple[Fraction | None, str]:
        """Return what of a text decides which references it is: texts with one key are the same."""
        return _key(self, text)

    def stands_in(self, answer: str, reference: str) -> bool:
        """Tell whether a reference stands in an answer, of both what counts."""
        match self.place:
            case "begin":
                return answer.startswith(reference)
            case "end":
                return answer.endswith(reference)
            case "anywhere":
                return reference in answer
        return answer == reference

    def same(self, answer: str, reference: str) -> bool:
        """Tell whether a text is a reference, whatever its tolerance."""
        return _same(self, answer, reference)

    def matched(self, answer: str, references: Sequence[str], how: Open) -> int | None:
        """Return which of an example's references a text is, the first of several; or None."""
        for place, reference in enumerate(references):
            if self.same(answer, reference):
                return place
        if how.tolerance and (value := number_of(answer)) is not None:
            for place, reference in enumerate(references):
                if is_near(value, number_of(reference), how):
                    return place
        return None


def is_near(value: Fraction, right: Fraction | None, how: Open) -> bool:
    """Tell whether a number is close enough to the right one, exactly."""
    return right is not None and abs(value - right) <= how.most_off(right)


@functools.lru_cache(maxsize=2**16)
def _same(matching: Matching, answer: str, reference: str) -> bool:
    if matching.math and not _are_numbers(answer, reference):
        return answer.strip() == reference.strip() or is_same(answer, reference)
    if (value := matching.number(reference)) is not None:
        # Without its point 3.5 would be 35.
        return matching.number(answer) == value
    return matching.stands_in(_normal(matching, answer), _normal(matching, reference))


def _are_numbers(*texts: str) -> bool:
    return all(number_of(text) is not None for text in texts)


@functools.lru_cache(maxsize=2**16)
def _normal(matching: Matching, text: str) -> str:
    if matching.drop:
        return " ".join(filter(None, map(_as_drop, _BETWEEN_WORDS.split(text))))
    for pattern in matching.ignored:
        text = re.sub(pattern, "", text)
    if "case" in matching.parts:
        text = text.lower()
    if "punctuation" in matching.parts and not (matching.signs and _is_of_signs(text)):
        text = text.translate(_PUNCTUATION)
    if not matching.digits:
        text = text.translate(_DIGITS)
    if not matching.edges:
        text = text.strip(string.whitespace + string.punctuation)
    if matching.math:
        text = text.strip()
    whole = text
    if "articles" in matching.parts:
        text = _ARTICLES.sub(" ", text)
        if not text.strip():  # the letter A is no article
            text = whole
    if "spaces" in matching.parts:
        text = " ".join(text.split())
    return text


def _is_of_signs(text: str) -> bool:
    return not text.translate(_PUNCTUATION).strip()


def _as_drop(word: str) -> str:
    """Return what counts of a word in DROP, where a number loses no point, and gains one."""
    bare = word.lower()
    bare = bare if _is_float(bare) else bare.translate(_PUNCTUATION)
    bare = str(float(bare)) if _is_float(bare) else bare
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@functools.lru_cache(maxsize=2**16)
def _key(matching: Matching, text: str) -> tuple[Fraction | None, str]:
    return number_of(text), matching.normal(text)


def f1(answer: str, reference: str, matching: Matching) -> float:
    """Return the F1 of the tokens of an answer and a reference, as SQuAD's script counts them.

    Numbers are tokens by their values, unless they are compared as texts; without that, what
    counts here is the bag of words of `Matching.normal`.

    Examples
    --------
    >>> f1("the red ball", "a red box", Matching()), f1("1,000 men", "1000.0 men", Matching())
    (0.5, 1.0)
    """
    one, other = _tokens(matching, answer), _tokens(matching, reference)
    shared = (one & other).total()
    if not shared:
        return 0.0
    return 2 * shared / (one.total() + other.total())


@functools.lru_cache(maxsize=2**16)
def _tokens(matching: Matching, text: str) -> Counter[str | Fraction]:
    numbers: list[Fraction] = []
    words = []
    for word in text.split():
        value = matching.number(word.strip("()[]\"'").rstrip(",;:!?"))
        if value is None:
            words.append(word)
        else:
            numbers.append(value)
    rest = " ".join(words)
    if numbers and _is_of_signs(rest) and "punctuation" in matching.parts:
        rest = ""  # signs count beside nothing else only
    return Counter([*matching.normal(rest).split(), *numbers])

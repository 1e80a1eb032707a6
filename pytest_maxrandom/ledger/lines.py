"""The lines of a ledger file: what each kind holds, how it is written, read and told apart."""

from __future__ import annotations

import functools
import hashlib
import io
import json
from collections import Counter
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_maxrandom.errors import RepeatedKey, unique_keys
from pytest_maxrandom.ledger.fields import FIELDS, Row, mistake, shown
from pytest_maxrandom.ledger.questions import named
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.tasks.task import Example

_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_BEGINNING = b'{"kind":'
PADDING = b"\0 \r\t"
"""Behind a last line: a file that had grown when the power failed ends with zeros."""
_Name = TypeVar("_Name", bound="Hashable")
_SHORT = 16  # 64 bits: a million examples collide with probability 3e-8
_SAME = 0.5
"""Share of the smaller of two sets that both must hold to be the same set."""
CUT = "the last line was cut off; the next run removes it"
"""The problem of a last line that a killed run leaves; no other one has it."""


class ClaimKey(NamedTuple):
    """Whose prompts are counted together, on one validation set, whatever the model's revision.

    How it is quantized is a part of its revision: trying all ways and keeping the best is a search.
    """

    model: str
    shots: int


class Try(NamedTuple):
    """What is counted: one prompt, with one revision of a model, scored in one way."""

    model_digest: str
    prompt: str
    scoring: str


@dataclass(frozen=True, slots=True)
class Subject:
    """Who answers, and how the answers are read."""

    model: str
    """Name, as the suite gives it."""
    model_digest: str
    """Of all that determines the model's numbers."""
    quantization: str
    """As the suite gives it."""
    shots: int
    """Demonstrations in each prompt."""
    scoring: str
    """How a choice is scored."""

    @property
    def claim(self) -> ClaimKey:
        """What its prompts are counted for."""
        return ClaimKey(self.model, self.shots)

    def tried(self, prompt_digest: str) -> Try:
        """Return the try of that prompt."""
        return Try(self.model_digest, prompt_digest, self.scoring)


class Looked(NamedTuple):
    """What a look told: that one of t prompts is best, and how many of its n answers are right."""

    t: int
    n: int
    when: str
    """UTC, ISO 8601; the first time."""
    run: str
    """Names the run that looked."""


class Named(NamedTuple):
    """An incumbent: one prompt to one model."""

    prompt: str
    """Digest; empty where a look was beside none."""
    model: str = ""
    """Digest; empty for the claim's own, whatever that is."""


class Answered(NamedTuple):
    """Which answers a look compared, and beside which incumbent."""

    look: str
    answers: str
    named: Named


class Shown(NamedTuple):
    """A result of a prompt that anybody can read who has the ledger."""

    n: int
    """Examples that the prompt was scored on."""
    when: str
    """UTC, ISO 8601."""


class Told(NamedTuple):
    """What a search was told of one prompt."""

    feedback: str
    """What it learns of each: none, accept, improved, score or answers."""
    by: str
    """Who proposes its prompts."""
    budget: int
    """Steps that were declared before it began; 0 where none were."""
    n: int
    """Examples that the prompt was scored on."""
    correct: int | None
    """How many answers are right, where that was told."""
    accepted: int
    """1 if it was the best so far, else 0; 0 where nothing was told."""


def line_of(row: Row) -> bytes:
    """Write one line: ASCII, `kind` first, the fields in the order of `FIELDS`."""
    ordered = {name: row[name] for name in FIELDS[row["kind"]] if name in row}
    return json.dumps(ordered, separators=(",", ":")).encode("ascii") + b"\n"


def fact(row: Row) -> tuple[object, ...]:
    """Return what a row says, whoever wrote it and when, and however the task was called."""
    left_out = ("when", "run", "task")
    return tuple(_hashable(row.get(name)) for name in FIELDS[row["kind"]] if name not in left_out)


def _hashable(value: object) -> object:
    if isinstance(value, list):
        return tuple(sorted(value))
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def read_lines(data: bytes, first: int = 1) -> Iterator[tuple[int, Row | str]]:
    """Read lines, without those that are blank.

    `data` are lines from the beginning of one on, and the last one may lack its end; `first` is the
    number of the first one.

    Yields
    ------
    tuple of (int, dict or str)
        The number of a line, and what it says; or what is wrong with it, in one sentence without
        the place. This is `CUT` if the line is a beginning without its end.
    """
    for number, raw in enumerate(io.BytesIO(data), first):
        whole = raw.endswith(b"\n")
        text = raw if whole else raw.rstrip(PADDING)
        if text.strip():
            yield number, CUT if not whole and _is_cut(text) else _read_line(text)


def _read_line(raw: bytes) -> Row | str:
    if raw.startswith(_MARKERS):
        return (
            f"found the merge conflict marker {shown(raw)}, expected a line of the ledger; remove "
            "the markers and keep the lines of both sides, in any order"
        )
    try:
        row = json.loads(raw, object_pairs_hook=unique_keys)
    except RepeatedKey as error:
        return f"{error}, as it is in version control: a reviewer may have read the other value"
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        return (
            f"found {shown(raw)}, expected a JSON object; restore the line from version control, "
            "or remove it if it is not a ledger line"
        )
    return mistake(row) or row


def _is_cut(text: bytes) -> bool:
    """Tell the beginning of a line from a whole one, and from what nobody here has written."""
    if not text.startswith(_BEGINNING):
        return _BEGINNING.startswith(text)
    try:
        json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return True
    return False


@functools.lru_cache(maxsize=2**14)  # each claim asks for those of its set several times
def example_digest(example: Example) -> str:
    """First 16 digits of the SHA-256 of the content; the id does not count."""
    text = json.dumps(example.content)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_SHORT]


def set_digest(examples: Iterable[str]) -> str:
    """SHA-256 of the examples' digests; their order does not count."""
    return digest("set", *sorted(examples))


def examples_digest(examples: Iterable[Example]) -> str:
    """SHA-256 of a validation set; neither ids nor order count."""
    return set_digest(map(example_digest, examples))


def named_digest(examples: Iterable[Example]) -> str:
    """SHA-256 of examples and their ids, in whatever order."""
    return set_digest(digest("named", each.id, example_digest(each)) for each in examples)


def look_digest(subject: Subject, set_: str, prompts: Iterable[str]) -> str:
    """SHA-256 of what was compared: the same prompts again are the same look."""
    of = (subject.model, subject.quantization, subject.shots, subject.model_digest)
    return digest("look", set_, *of, subject.scoring, *sorted(set(prompts)))


def search_digest(subject: Subject, set_: str, feedback: str, by: str, budget: int) -> str:
    """SHA-256 of what one search is: who searches, for what, on which examples, and what it learns.

    Whoever begins it again goes on with it.
    """
    of = (subject.model, subject.quantization, subject.shots, subject.model_digest)
    return digest("search", set_, *of, subject.scoring, feedback, by, budget)


def shared(these: Iterable[str], those: Iterable[str]) -> int:
    """Return how many examples two sets have in common, repeated ones as often as in both."""
    return (Counter(these) & Counter(those)).total()


def overlap(these: Iterable[str], those: Iterable[str]) -> bool:
    """Tell whether two sets have any example in common."""
    return not set(these).isdisjoint(those)


def related(
    sets: Mapping[_Name, Sequence[str]],
    own: Sequence[str],
    questions: Mapping[str, str] = {},
) -> dict[_Name, int]:
    """Return the sets that are the same as `own`, directly or through others.

    Parameters
    ----------
    sets : mapping
        Digests of the examples of each.
    own : sequence of str
        Digests of the examples.
    questions : mapping of str to str
        What is known of the examples' questions, of whatever set.

    Returns
    -------
    dict
        By the name of the set: how many examples it shares with `own`.

    Examples
    --------
    >>> sets = {"a": "12345", "b": "34567", "c": "6789", "d": "xyz"}
    >>> related(sets, "1234")
    {'a': 4, 'b': 2, 'c': 0}
    """
    left = {name: Counter(named(examples, questions)) for name, examples in sets.items()}
    texts: dict[_Name, Counter[str]] = {}
    mine = Counter(named(own, questions))
    waiting = [mine]
    while waiting:
        one = waiting.pop()
        near = [name for name, other in left.items() if _are_same(one, other)]
        texts |= {name: left.pop(name) for name in near}
        waiting += [texts[name] for name in near]
    return {name: (mine & other).total() for name, other in texts.items()}


def _are_same(one: Counter[str], other: Counter[str]) -> bool:
    if one.keys().isdisjoint(other):  # as those of another task are, which this tells at once
        return False
    return (one & other).total() >= _SAME * min(one.total(), other.total())


class TriesOfClaim(NamedTuple):
    """The tries of a claim, and the digests of their models."""

    claim: ClaimKey
    tries: set[Try]
    models: set[str]


def linked(found: Iterable[TriesOfClaim], claim: ClaimKey, digests: set[str]) -> frozenset[Try]:
    """Return the tries of one claim: of all models of a name, and of all names of these models.

    Parameters
    ----------
    found : iterable of TriesOfClaim
        Of all claims.
    digests : set of str
        The model's, as far as they are known.
    """
    left = [each for each in found if each.claim.shots == claim.shots]
    names, counted = {claim.model}, frozenset[Try]()
    while True:
        same = [each.claim.model in names or not each.models.isdisjoint(digests) for each in left]
        if not any(same):
            return counted
        linked = [*compress(left, same)]
        names |= {each.claim.model for each in linked}
        counted = counted.union(*(each.tries for each in linked))
        digests = digests.union(*(each.models for each in linked))
        left = [each for each, counts in zip(left, same, strict=True) if not counts]

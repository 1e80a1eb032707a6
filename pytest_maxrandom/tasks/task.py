"""A task: named examples, with choices or open, and the texts around them; their sources."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.record import Remark
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.tasks.references import Matching, Open


@dataclass(frozen=True, slots=True)
class Example:
    """One question, with choices or open."""

    id: str
    """Unique within its task."""
    input: str
    """The question's text."""
    choices: tuple[str, ...]
    """The m possible answers, in the order of the file; of an open example its references, which
    are all the ways in which its right answer is written."""
    right: tuple[int, ...]
    """Indices into `choices` of the right answers, ascending, at least one and not all; of an open
    example all of them."""
    order: tuple[int, ...] | None = None
    """Indices into `choices` in the order in which a prompt lists them. By itself an example has an
    order that its id determines (:func:`pytest_maxrandom.sweeps.prompts.formats.shown_order`)."""
    cluster: str | None = None
    """What the example shares with others, such as its passage; no part of any digest."""
    continuation: str | None = None
    """What follows whichever choice is taken, where that is scored and not the choice itself (a
    blank in a sentence: the choices are its beginnings, the continuation its end)."""
    solved: str | None = None
    """The example as a demonstration, where its task writes that in another way than its question
    with a right choice."""
    open: Open | None = None
    """None where it has choices."""

    @classmethod
    def without_choices(cls, name: str, text: str, references: Sequence[str], how: Open) -> Example:
        """Return an open example by its id and its input.

        Its first reference is what demonstrations show.
        """
        every = tuple(range(len(references)))
        return cls(name, text, tuple(references), every, order=every, open=how)

    @property
    def text(self) -> str:
        """All that is asked besides the choices: the text before them, and the text after."""
        return self.input + (self.continuation or "")

    @property
    def chance(self) -> Fraction:
        """Probability that one uniform guess is right; 0 of an open example.

        Of that it says nothing: what guessers reach there is learnt from the answers.
        """
        if self.open is not None:
            return Fraction(0)
        return Fraction(len(self.right), len(self.choices))

    @property
    def content(self) -> tuple[str | tuple[str, ...] | tuple[int, ...], ...]:
        """All that makes the example what it is, without its id and how it is shown."""
        after = () if self.continuation is None else (self.continuation,)
        how = self.open
        told = () if how is None else ("open", repr((how.tolerance, how.relative)))
        return self.input, self.choices, self.right, *after, *told

    @property
    def presentation(self) -> tuple[str, tuple[int, ...] | None]:
        """What tells examples apart of which several may be one in different orders."""
        return self.id, self.order


def share_choices(examples: Iterable[Example]) -> bool:
    """Tell whether all examples with m choices offer the same m texts, in whatever order."""
    texts: dict[int, tuple[str, ...]] = {}
    offered = (tuple(sorted(example.choices)) for example in examples)
    return all(texts.setdefault(len(choices), choices) == choices for choices in offered)


@dataclass(frozen=True, slots=True)
class Layout:
    """The texts around an example; the defaults are BIG-bench's.

    With a `target_delimiter`, that text stands between a question and its answer and is scored with
    the answer, and so is all white space at the question's end (lm-evaluation-harness).
    """

    task_prefix: str = ""
    input_prefix: str = "\nQ: "
    output_prefix: str = "\nA: "
    choice_prefix: str = "\n  choice: "
    separator: str = "\n"
    append_choices: bool = True
    target_delimiter: str | None = None


NO_LAYOUT = Layout("", "", "", "", "", append_choices=False)
"""What stands around an example whose text is read alone."""


@dataclass(frozen=True)
class Task:
    """All examples of a task."""

    name: str
    """The name that the suite gives it."""
    examples: tuple[Example, ...]
    """At least one, with distinct ids."""
    layout: Layout = Layout()
    """How the task's own file writes an example."""
    notes: tuple[Remark, ...] = ()
    """What a reader of the report must know about the data; of a package ``Remark(text=...)``."""
    pool: tuple[Example, ...] | None = None
    """Where demonstrations come from, such as the task's own few-shot split; None where they are
    drawn from the examples."""
    pool_source: str = ""
    """What reports call the file or the split that the pool is; empty where it has no name."""
    matching: Matching | None = None
    """How its open answers are read and compared, where the task itself says that."""

    @property
    def is_open(self) -> bool:
        """Whether its examples have no choices."""
        return self.examples[0].open is not None

    @cached_property
    def duplicates(self) -> int:
        """How many examples repeat another one exactly (input, choices and right answers)."""
        return len(self.examples) - len({example.content for example in self.examples})

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the examples' content; ids and order do not count."""
        rows = sorted(json.dumps(example.content) for example in self.examples)
        return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


S = TypeVar("S", bound="TaskSpec")


class Where(Protocol):
    """From a key of the task, such as "path" or ("test", "path"), to its place in the suite."""

    def __call__(self, *keys: str) -> tuple[Path, int | None]:
        """Return the suite file, and the line of the deepest of these keys that it gives."""


class Source(Protocol[S]):
    """Reads the tasks of one `format`.

    An implementer writes a spec and :meth:`read`, and names the class (or an instance) in the entry
    point group ``pytest_maxrandom.sources``; the entry point's name is the `format` that suites
    give. What is common to all tasks (the texts around examples, the test set, the checks of what
    every task must hold) is done elsewhere. :mod:`pytest_maxrandom.tasks.reading` helps to read:
    `read_file` and `parse_json`, `as_text`, `as_id` and `as_cluster` for single values,
    `file_findings` to tell all mistakes of a file at once, with their lines, and `finished_task`.
    A source whose specs may stand for several tasks also has `members`, with the arguments of
    :meth:`read`, which returns a spec for each, with a name of its own. One that reads data by
    another name than a path may have `absent`, with the same arguments, which says in a few words
    that they are not on this machine (None: they are), without asking a network.

    Attributes
    ----------
    spec : type of TaskSpec
        A subclass of :class:`pytest_maxrandom.suite.tasks.TaskSpec` with the keys that a task of
        this format has in a suite besides the common ones, typed and with docstrings.
    """

    @property
    def spec(self) -> type[S]:
        """The keys of a task in a suite."""

    def read(self, spec: S, base: Path, where: Where) -> Task:
        """Read the whole task.

        Parameters
        ----------
        spec : TaskSpec
            What the suite says, an instance of :attr:`spec`.
        base : Path
            The folder that paths are relative to: that of the suite file.
        where : callable
            Tells where a key stands in the suite, for messages.

        Returns
        -------
        Task
            With all its examples; with a pool of its own where demonstrations have a split of
            theirs.

        Raises
        ------
        SuiteError
            With all that is wrong: ``Problem(*where("path"), sentence)`` in the suite, or with
            path and line in a file.
        """

"""What the ledger knows of one validation set, and what is added to it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LockError, SearchError
from pytest_maxrandom.ledger.fields import SUBJECT, Row
from pytest_maxrandom.ledger.files import fingerprint_of
from pytest_maxrandom.ledger.lines import (
    Subject,
    Try,
    examples_digest,
    fact,
    line_of,
    look_digest,
    related,
    set_digest,
    shared,
)
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.questions import named, question_digest
from pytest_maxrandom.ledger.set_told import SetTold, questions_of
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Named, Told
    from pytest_maxrandom.ledger.set_files import Siblings
    from pytest_maxrandom.ledger.withheld import Withheld
    from pytest_maxrandom.record import Fingerprint
    from pytest_maxrandom.tasks.task import Example


class SetLedger(SetTold):
    """The tries, looks and openings on one validation set, and on the sets that it was before.

    Parameters
    ----------
    folder : Path
        The ledger; made when something is written.
    run : str
        Names the run in what is written.
    task : str
        Names a new file. A set is found by its examples, so another name changes nothing.
    examples : sequence of Example
        The validation set.
    siblings : callable, optional
        Returns the digests of the prompts that are no tries on a set, given the set's digest. A set
        of which nothing else was tried is as if it were not in the ledger.
    files : LedgerFiles, optional
        What other sets have read already.
    withheld : Withheld, optional
        Where right answers are kept in place of the ledger, until they are published.

    Attributes
    ----------
    path : Path
        The file of this set that this process adds to: where several hosts share the folder, one of
        its own.
    problems : list of Remark
        What is wrong with the files.

    Raises
    ------
    LedgerError
        With file and line, if the ledger cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        run: str,
        task: str,
        examples: Sequence[Example],
        siblings: Siblings | None = None,
        files: LedgerFiles | None = None,
        withheld: Withheld | None = None,
    ) -> None:
        self._waiting: list[Row] = []
        self._served: list[Row] = []
        questions, columns = _described(tuple(examples))
        self._set: Row = {"kind": "set", "task": task, **columns}
        self._run, self._withheld = run, withheld
        super().__init__(folder, task, questions, siblings, files or LedgerFiles())
        self._numbers: dict[tuple[object, ...], Row] = {}
        self._joins: list[Row] = []

    def refresh(self) -> None:
        """Write what waits, and read what other processes have added."""
        self.write()
        super().refresh()

    @property
    def read_rows(self) -> int:
        """How many lines were read of this set; it grows where another process adds some."""
        return sum(file.read_rows for file in self._own)

    def shared_with(self, examples: Sequence[Example]) -> str:
        """Say how many examples another set has in common with this one: ``29 of 40``."""
        common = shared(map(question_digest, examples), named(self._examples, self._questions))
        return f"{count(common)} of {count(len(self._examples))}"

    def is_about(self, questions: Sequence[str]) -> bool:
        """Tell whether examples, by their questions, are the same set, changed a little or not."""
        return bool(related({"": questions}, named(self._examples, self._questions)))

    def siblings_on(self, examples: Sequence[Example]) -> Collection[str]:
        """Return the digests of the prompts that are no tries on a set of examples."""
        return self._left_out(examples_digest(examples))

    def known_examples(self, examples: Sequence[Example]) -> int:
        """Count the examples that stand in any validation set of the ledger."""
        asked = dict(questions_of(examples))
        near = self._opened.near(self._folder, {*asked, *asked.values()})
        names = self._known(near) | asked
        sets = [self._examples, *(each for file in near for each in file.sets.values())]
        known = {name for each in sets for name in named(each, names)}
        return sum(question_digest(each) in known for each in examples)

    def has_told_of(self, test: Sequence[Example], best: Try | None = None) -> bool:
        """Tell whether what was told of a test set may have chosen a prompt.

        It was if any of its examples stands in a validation set, or it was opened for another one.
        """
        return bool(self.openings(test) - {best} or self.known_examples(test))

    def notes(self, subject: Subject) -> list[Remark]:
        """Return from where tries of the subject's claim were carried over."""
        now = [file.tries.get(subject.claim, ()) for file in self._own]
        return self._joined() + [
            Remark(
                "tries_of_another_set",
                {"prompts": len(tries), "common": common, "examples": len(self._examples)},
            )
            for files, common in self._before
            if (
                tries := {
                    tried
                    for file in files
                    for each in self._tries(file)
                    if each.claim == subject.claim
                    for tried in each.tries
                    if not any(tried in known for known in now)
                }
            )
        ]

    def join(self, reworded: Mapping[str, str]) -> dict[tuple[str, str], dict[str, str]]:
        """Count what was tried on a set that asked the same in other words; see `SetFiles.join`.

        What is found so is written with the next lines.
        """
        joins = super().join(reworded)
        facts = ({"set": one, "before": old, "pairs": pairs} for (one, old), pairs in joins.items())
        self._joins = [self._dated("reworded") | each for each in facts]
        return joins

    def _joined(self) -> list[Remark]:
        """Return which sets before asked the same in other words."""
        files = {digest: files[0] for files, _ in self._before for digest in files[0].sets}
        joins = {(row["set"], row["before"]): row["pairs"] for row in self._joins}
        for own in self._own:
            joins |= {sets: pairs for sets, pairs in own.joins.items() if sets not in own.undone}
        return [
            Remark(
                "reworded",
                {
                    "questions": len(pairs),
                    "examples": len(self._examples),
                    "file": str(files[before].path),
                    "own": str(self.path),
                },
            )
            for (_, before), pairs in joins.items()
            if before in files
        ]

    def served(self, model_digest: str) -> list[Fingerprint]:
        """Return by what a model behind an address is known, also what is not written yet."""
        waiting = (row for row in self._served if row["model_digest"] == model_digest)
        return [*super().served(model_digest), *map(fingerprint_of, waiting)]

    def serve(self, subject: Subject, found: Fingerprint) -> None:
        """Keep by what the subject's model is known; it is written with the next lines.

        Its address is left out, since a ledger is committed.
        """
        self._served.append(
            self._dated("served")
            | {
                "model_digest": subject.model_digest,
                "server": found.server,
                "values": [*found.values],
                "texts": [*found.texts],
                "content": found.content,
            }
        )

    def begun(self, subject: Subject, prompts: Mapping[str, int]) -> None:
        """Count prompts, each once, before it is known how often they are right.

        When this returns, they are on the disk. Each prompt is given by its digest, with the number
        of examples that it is scored on.
        """
        facts = ({"prompt": prompt, "n": n, "correct": None} for prompt, n in prompts.items())
        same = {"task_digest": self._digest}
        self._add(*(self._row("prompt", subject, same | each) for each in facts))

    def evaluated(self, subject: Subject, prompt: str, n: int, correct: int) -> None:
        """Count a prompt, once; when this returns, it is on the disk.

        Of one that was begun only its right answers follow: with the next lines, or `write`. Where
        they are withheld, they follow when they are published.

        Raises
        ------
        SearchError
            If they cannot be kept.
        """
        facts = {"task_digest": self._digest, "prompt": prompt, "n": n, "correct": correct}
        row = self._row("prompt", subject, facts)
        if self._withheld is not None:
            self._add(row | {"correct": None})  # first: a score may be lost, and no count
            try:
                self._withheld.put(row)
            except (OSError, LockError) as error:
                why = (error.strerror or error) if isinstance(error, OSError) else error
                raise SearchError(
                    f"{self._withheld.path}: cannot be written to ({why}), so that no score can be "
                    "kept from the search; make room there, and try the prompt again"
                ) from error
        elif self._has(row | {"correct": None}) and not self._has(row):
            self._numbers[fact(row)] = row
        else:
            self._add(row)

    def write(self) -> None:
        """Write what follows of prompts that were begun."""
        if self._numbers:
            self._append(lambda: list(self._numbers.values()))

    def look(
        self,
        subject: Subject,
        prompts: Sequence[str],
        *,
        t: int,
        n: int,
        best_correct: int,
        answers: str | None = None,
        incumbent: Named | None = None,
    ) -> int:
        """Count a look at a claim, and return how many there were, this one included.

        The same prompts through the same model are the same look, whatever they answer.

        Parameters
        ----------
        answers : str, optional
            Digest of the answers, where all were computed; see `different_answers`.
        incumbent : Named, optional
            What the best one was compared with. Lines of looks tell so which incumbent followed
            which; for the same model and shots, t goes on over all of them.
        """
        name = look_digest(subject, self._digest, prompts)
        facts: Row = {"look": name, "t": t, "n": n, "best_correct": best_correct}
        if answers is not None:
            facts["answers"] = answers
        if incumbent is not None:
            facts["incumbent"] = incumbent.prompt
            if incumbent.model:
                facts["incumbent_model"] = incumbent.model
        self._add(self._row("look", subject, facts))
        return len(self.looked_at(subject))

    def add_reply(
        self, subject: Subject, prompt: str, name: str, told: Callable[[dict[str, Told]], Told]
    ) -> bool:
        """Write down the reply on a prompt before a search gets it, and return if that is done.

        Parameters
        ----------
        name : str
            The search's, of `search_name`.
        told : callable
            Called with what the search was told of other prompts, when all of that is known and
            nobody else can add to it.
        """

        def row() -> list[Row]:
            before = self.search(name)
            if prompt in before:
                return []
            facts = {"prompt": prompt, "search": name, **told(before)._asdict()}
            return [self._row("feedback", subject, facts)]

        return self._append(row)

    def publish(self, tries: Collection[Try], closes: Iterable[str] = ()) -> int | None:
        """Write down the right answers of tries that were withheld, and return how many are new.

        None where they cannot be written. `closes` names searches that are over, all of whose
        results these are.
        """
        kept = {} if self._withheld is None else self._withheld.rows()
        rows = [row | {"withheld": 1} for tried, row in kept.items() if tried in tries]
        rows = [row for row in rows if not self._has(row)]
        marks = [self._dated("closed") | {"search": name} for name in closes]
        return len(rows) if self._add(*rows, *marks) else None

    @property
    def lost(self) -> set[tuple[Try, str]]:
        """What searches tried on this very set, and nobody here knows the right answers of.

        Each with the set's digest.

        Raises
        ------
        LedgerError
            If what is withheld cannot be read.
        """
        kept = {} if self._withheld is None else self._withheld.rows()
        told = {tried for search in self.own_searches.values() for tried in search}
        return {(tried, self._digest) for tried in told - kept.keys() if self.unknown([tried])}

    @property
    def why_closed(self) -> str:
        """Why nothing can be written, as far as that was found."""
        return str(self.problems[-1].values.get("why")) if self.problems else ""

    def opened(self, subject: Subject, prompt: str, examples: Sequence[Example]) -> int | None:
        """Count an opening of a test set, and return how many there were, this one included.

        A test set that was changed a little is the same, as a validation set is. None if that
        cannot be written down: then the test set must stay closed.
        """
        questions = questions_of(examples)
        columns = _columns(questions)
        test = set_digest(columns["examples"])
        known = any(test in file.tests for file in self._of_test(columns["examples"]))
        if not known and not self._add({"kind": "test", "test": test, **columns}):
            return None
        facts = {"prompt": prompt, "test": test, "n": len(questions)}
        if (test, subject.tried(prompt)) not in self._openings(questions) and not self._add(
            self._row("opening", subject, facts)
        ):
            return None
        return len(self._openings(questions))

    def _row(self, kind: str, subject: Subject, facts: Row) -> Row:
        return self._dated(kind) | {
            **{name: getattr(subject, name) for name in SUBJECT},
            **facts,
        }

    def _dated(self, kind: str) -> Row:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return {"kind": kind, "when": when, "run": self._run}

    def _add(self, *rows: Row) -> bool:
        """Write lines unless they stand there; return whether they do."""
        if all(map(self._has, (*rows, *self._joins, *self._served))):
            return True
        return self._append(lambda: [*self._numbers.values(), *rows])

    def _append(self, given: Callable[[], list[Row]]) -> bool:
        """Write rows that are known when nobody else can add any; return whether they stand."""
        rows: list[Row] = []

        def lines() -> list[bytes]:
            rows[:] = given()
            return self._lacking(rows)

        try:
            self._file.append(lines)
        except (OSError, LockError) as error:
            rows = rows or given()
            reason = (error.strerror or error) if isinstance(error, OSError) else error
            self._tell(Remark("ledger_closed", {"file": str(self.path), "why": str(reason)}))
            for row in rows:
                if row["kind"] not in ("test", "opening", "feedback", "closed"):
                    self._waiting.append(row)
                    self._file.take(row)
            self._numbers.clear()
            return False
        self._waiting.clear()
        self._numbers.clear()
        self._file.take(self._set)
        for row in (*self._joins, *self._served, *rows):
            self._file.take(row)
        # Of two hosts that write at once, at least one sees the other's line before it goes on.
        self._read_beside()
        return True

    def _has(self, row: Row) -> bool:
        return any(file.has(row) for file in self._own)

    def _lacking(self, rows: Sequence[Row]) -> list[bytes]:
        """Return the lines to be added, when all that others have added is known."""
        self._tell(self._file.torn)
        # A line of an older version does not say the questions of its examples: a second one does.
        said = self._questions.keys() <= self._file.questions.keys()
        known = self._digest in self._file.sets and said and not self._file.empty
        top = [] if known else [self._set]
        top += [row for row in (*self._joins, *self._served) if not self._has(row)]
        new = [row for row in rows if not self._has(row)]
        return [line_of(line) for line in (*top, *self._waiting, *new)]


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _described(examples: tuple[Example, ...]) -> tuple[Sequence[tuple[str, str]], Row]:
    """Return `questions_of` a set, and what its line says of it."""
    questions = questions_of(examples)
    return questions, {
        "set": set_digest(example for example, _ in questions),
        **_columns(questions),
        "chances": dict(sorted(Counter(str(each.chance) for each in examples).items())),
    }


def _columns(questions: Sequence[tuple[str, str]]) -> Row:
    """Return what a line says of examples."""
    return {
        "examples": [example for example, _ in questions],
        "questions": [question for _, question in questions],
    }

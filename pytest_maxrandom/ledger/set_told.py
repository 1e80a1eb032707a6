"""What was told of one validation set: replies to searches, looks at claims, and openings."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.files import claim_of, named_in, rows_of, tried_of
from pytest_maxrandom.ledger.lines import (
    Named,
    example_digest,
    look_digest,
    related,
    search_digest,
)
from pytest_maxrandom.ledger.questions import question_digest
from pytest_maxrandom.ledger.set_files import SetFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.ledger.lines import Answered, ClaimKey, Looked, Subject, Told, Try
    from pytest_maxrandom.ledger.withheld import Withheld
    from pytest_maxrandom.tasks.task import Example


class SetTold(SetFiles):
    """Reads what the ledger says that others were told; see `pytest_maxrandom.ledger.SetLedger`."""

    _run: str
    _withheld: Withheld | None

    def search(self, name: str) -> dict[str, Told]:
        """Return what the search of a name was told, by the digest of the prompt."""
        return {
            tried.prompt: told
            for file in self._own
            for tried, told in file.searches.get(name, {}).items()
        }

    def search_name(self, subject: Subject, feedback: str, by: str, budget: int) -> str:
        """Return what a search on these examples is known by."""
        return search_digest(subject, self._digest, feedback, by, budget)

    @property
    def own_searches(self) -> dict[str, dict[Try, Told]]:
        """What the searches on this very set were told, by their names."""
        found: dict[str, dict[Try, Told]] = {}
        for file in self._own:
            for name, told in file.searches.items():
                found.setdefault(name, {}).update(told)
        return found

    @property
    def open_before(self) -> list[tuple[Path, Told]]:
        """Searches that are open on these examples as they were before, with one reply of each.

        That is where some right answers stand in no line yet.
        """
        return [
            (file.path, next(iter(told.values())))
            for files, _ in self._before
            for file in files
            for name, told in file.searches.items()
            if name not in file.closed and not all(map(file.shows, told))
        ]

    @property
    def searches(self) -> dict[str, dict[Try, Told]]:
        """What searches were told of any of these examples, whoever searched for which model."""
        found: dict[str, dict[Try, Told]] = {}
        for name, tries in self._sharing(lambda file: file.searches):
            known = found.setdefault(name, {})
            for tried, told in tries.items():
                known[tried] = max(known.get(tried, told), told, key=lambda each: each.accepted)
        return found

    @property
    def closed(self) -> dict[str, str]:
        """Who proposed the prompts of searches on any of these examples whose results all may read.

        By the names of the searches.
        """
        names = {name for name, _ in self._sharing(lambda file: dict.fromkeys(file.closed))}
        searches = self.searches if names else {}
        return {
            name: next(iter(told.values())).by for name, told in searches.items() if name in names
        }

    def unknown(self, tries: Collection[Try]) -> int:
        """Return of how many tries the ledger does not show the right answers."""
        return sum(not any(file.shows(tried) for file in self._own) for tried in tries)

    def right_answers(self, subject: Subject, told: Mapping[str, Told]) -> dict[str, int]:
        """Return the right answers of prompts that a search was told of, as far as they are known.

        They are not where the prompt was tried on another machine, or its score was lost.

        Raises
        ------
        LedgerError
            If what is withheld cannot be read.
        """
        kept = {} if self._withheld is None else self._withheld.rows()
        found = {
            prompt: kept.get(subject.tried(prompt), {}).get("correct", one.correct)
            for prompt, one in told.items()
        }
        return {prompt: right for prompt, right in found.items() if right is not None}

    def different_answers(self, subject: Subject) -> int:
        """Return how many different answers the looks at a claim compared."""
        return max(1, len({(each.look, each.answers) for each in self._answered(subject)}))

    def different_comparisons(self, subject: Subject) -> int:
        """Return how often different answers, or other incumbents, were compared."""
        return len({each for each in self._answered(subject) if each.named.prompt})

    def _answered(self, subject: Subject) -> set[Answered]:
        return set().union(*(file.answered.get(subject.claim, ()) for file in self._files))

    def known_when_named(
        self, named: Named, means: Mapping[Try, float] = {}
    ) -> dict[Try, float | None]:
        """Return what earlier runs had tried when looks first named the incumbent.

        With each try comes its score, None where that is not known. Only what was tried by then
        can have been a reason to name it.

        Parameters
        ----------
        means : mapping of Try to float
            Mean scores of which no line tells, as of grades.
        """
        when, run = "~", self._run  # later than any time
        tried: list[tuple[Try, str, str, float | None]] = []
        for row in (row for path in self.files for row in rows_of(path)):
            if row["kind"] == "prompt":
                one, right = tried_of(row), row["correct"]
                told = means.get(one) if right is None else right / row["n"]
                tried.append((one, row["when"], row["run"], told))
            elif row["kind"] == "look" and named_in(row) == named:
                when, run = min((when, run), (row["when"], row["run"]))
        scores: dict[Try, float | None] = {}
        for one, then, by, told in tried:
            if by != run and then <= when:
                scores[one] = scores.get(one) if told is None else told
        return scores

    def place_when_named(self, subject: Subject, named: Named) -> int:
        """Return which one it is, by the order of first naming, of those named as the incumbent.

        Of those that one run named first, the claim's own, whatever its model is called, come
        before those of other claims: what these answered was known to nobody when the run began. So
        each claim has an order of its own, which no later look changes. Those that an earlier run
        had tried when they were named do not count: they pay for their rank. Without a look that
        named it, it comes last.
        """
        looks = (look for file in self._files for of in file.answered.values() for look in of)
        if {look.named for look in looks} <= {Named(""), named}:
            return 1
        rows = [row for path in self.files for row in rows_of(path)]
        same = self._same_weights(subject)

        def is_own(row: Row) -> bool:
            of = claim_of(row)
            return of == subject.claim or (
                of.shots == subject.shots and row["model_digest"] in same
            )

        first: dict[Named, Row] = {}
        own: dict[tuple[Named, str], int] = {}
        for row in sorted(rows, key=lambda row: str(row.get("when", ""))):
            if "incumbent" in row:
                first.setdefault(named_in(row), row)
                if is_own(row):
                    own.setdefault((named_in(row), row["run"]), len(own))
        first.setdefault(named, {"run": self._run})
        own.setdefault((named, self._run), len(own))
        runs = [*dict.fromkeys(row["run"] for row in first.values())]

        def order(each: Named) -> tuple[int, int]:
            run = first[each]["run"]
            return runs.index(run), own.get((each, run), len(own))

        ordered = sorted(first, key=order)
        before = ordered[: ordered.index(named)]
        tried = {
            (row["prompt"], row["model_digest"], row["run"], row["when"])
            for row in rows
            if row["kind"] == "prompt"
        }

        def was_tried(each: Named) -> bool:
            look = first[each]
            model = each.model or look["model_digest"]
            return any(
                (prompt, digest) == (each.prompt, model)
                and run != look["run"]
                and when <= look["when"]
                for prompt, digest, run, when in tried
            )

        return 1 + sum(not was_tried(each) for each in before)

    def looked_at(self, subject: Subject) -> dict[str, int]:
        """Return the looks at a claim, each with the t that it counted."""
        looks = (file.looks.get(subject.claim, {}) for file in self._files)
        return {name: look.t for of_file in looks for name, look in of_file.items()}

    def in_sight(self, best: Try | None = None, *, further: bool = False) -> list[tuple[Try, int]]:
        """Return the results that searches could read beside what they were told, each with its n.

        That is what the ledger showed of any of these examples before the last reply to a search,
        such as the results of a suite. Scores that a search was told are counted there, and what it
        was not told by the look that publishes it.

        Parameters
        ----------
        best : Try, optional
            A prompt. What came later has not chosen one that no search tried; and nothing has
            where it was there before the first of them was told anything.
        further : bool
            Whether a search will be told more, so that it can read what stands there now.
        """
        replied = {when for when, _ in self._sharing(lambda file: file.replied)}
        if not replied and not further:
            return []
        told = [each for tries in self.searches.values() for each in tries.items()]
        scores = {tried for tried, what in told if what.feedback in ("score", "answers")}
        shown = dict(self._sharing(lambda file: file.shown()))
        runs, until = {"" if further else self._run}, "~" if further else max(replied)
        here = [(one.when, run) for (tried, _, run), one in shown.items() if tried == best]
        if here and best not in {tried for tried, _ in told}:
            first, run = min(here)
            if first <= min(replied):
                return []
            runs, until = runs | {run}, min(until, first)
        return list(
            {
                (tried, set_): (tried, one.n)
                for (tried, set_, run), one in shown.items()
                if run not in runs and one.when <= until and tried not in scores
            }.values()
        )

    def looks_before(
        self, subject: Subject, prompts: Sequence[str], seen: Collection[Try] = ()
    ) -> list[Looked]:
        """Return the looks that may have chosen prompts, at any claim on any of these examples.

        Those of this run have told nobody anything before its prompts were given, and neither have
        those after the first look at the same prompts. The results of what is `seen` are known, so
        that a look tells nothing more where it compared no others.
        """
        tries: dict[ClaimKey, set[Try]] = {}
        for claim, of_file in self._sharing(lambda file: file.tries):
            tries.setdefault(claim, set()).update(of_file)
        known = {claim for claim, compared in tries.items() if compared and compared <= set(seen)}
        looked: dict[str, Looked] = {}
        of_claims = self._sharing(lambda file: file.looks)
        looks = (of.items() for claim, of in of_claims if claim not in known)
        for name, look in chain.from_iterable(looks):
            looked[name] = min(looked.get(name, look), look, key=lambda one: one.when)
        own = looked.pop(look_digest(subject, self._digest, prompts), None)
        run = self._run if own is None else own.run
        return [
            look
            for look in looked.values()
            if look.run != run and (own is None or look.when <= own.when)
        ]

    def openings(self, examples: Sequence[Example]) -> set[Try]:
        """Return for which tries a test set was opened, also as it was before a small change."""
        return {tried for _, tried in self._openings(questions_of(examples))}

    def _openings(self, questions: Sequence[tuple[str, str]]) -> set[tuple[str, Try]]:
        files = self._of_test(chain.from_iterable(questions))
        tests = {name: test for one in files for name, test in one.tests.items()}
        known = self._known(files) | dict(questions)
        same = related(tests, [example for example, _ in questions], known)
        return {(n, t) for one in files for n in same for t in one.openings.get(n, ())}


def lowest_rank(tries: Collection[Try], scores: Mapping[Try, float | None]) -> int | None:
    """Return the lowest rank of some tries among scores; None where they have none.

    It is one more than the tries that scored higher, or of which that is not known.
    """
    ranks = [
        1
        + sum(
            each != tried and (own is None or other is None or other > own)
            for each, other in scores.items()
        )
        for tried, own in scores.items()
        if tried in tries
    ]
    return max(ranks, default=None)


def questions_of(examples: Iterable[Example]) -> list[tuple[str, str]]:
    """Return the digests of examples, sorted, each with that of its question."""
    return sorted((example_digest(each), question_digest(each)) for each in examples)

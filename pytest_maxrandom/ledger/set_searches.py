"""What searches were told on one validation set, and what they must not see yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.lines import search_digest
from pytest_maxrandom.ledger.set_files import SetFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Subject, Told, Try
    from pytest_maxrandom.ledger.opened import LedgerFiles
    from pytest_maxrandom.ledger.set_files import Siblings
    from pytest_maxrandom.ledger.withheld import Withheld


class SetSearches(SetFiles):
    """Reads what the ledger knows of searches; see `pytest_maxrandom.ledger.SetLedger`.

    Parameters
    ----------
    withheld : Withheld or None
        Where right answers are kept that the ledger must not show yet.
    """

    def __init__(
        self,
        folder: Path,
        task: str,
        questions: Sequence[tuple[str, str]],
        siblings: Siblings | None,
        files: LedgerFiles,
        withheld: Withheld | None,
    ) -> None:
        self._withheld = withheld
        super().__init__(folder, task, questions, siblings, files)

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

"""What lm-evaluation-harness itself builds of a task, to be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Asked:
    """One document, with the texts and continuations that are scored and the right answers."""

    requests: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    gold: frozenset[int]


class Harness:
    """One task of a folder of YAML files, loaded by lm-evaluation-harness."""

    def __init__(self, folder: Path, name: str) -> None:
        from lm_eval.tasks import TaskManager

        manager = TaskManager(include_path=str(folder), include_defaults=False)
        self.task: Any = manager.load([name])["tasks"][name]
        self.documents = list(self.task.eval_docs)

    @property
    def pool(self) -> list[Any]:
        """The documents that demonstrations come from."""
        return list(self.task.fewshot_docs())

    def asked(self, shown: Sequence[Any] = ()) -> list[Asked]:
        """Return what is asked of each document after the same demonstrations."""
        self.task.sampler.sample = lambda n, eval_doc=None: list(shown)
        found = []
        for document in self.documents:
            prefix = self.task.doc_to_prefix(document)
            context = self.task.fewshot_context(document, len(shown), gen_prefix=prefix)
            built = self.task.construct_requests(document, context, metadata=("t", 0, 1))
            choices = self.task.doc_to_choice(document)
            multiple = self.task.multiple_input
            of_gold = self.task.doc_to_text if multiple else self.task.doc_to_target
            gold = of_gold(document)
            places = [
                choices.index(each) if isinstance(each, str) else each
                for each in (gold if isinstance(gold, list) else [gold])
            ]
            found.append(Asked(tuple(one.args for one in built), tuple(choices), frozenset(places)))
        return found

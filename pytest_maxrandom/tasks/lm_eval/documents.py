"""Documents of tasks, whose templates are rendered in a process of its own (`worker.py`).

It serves all tasks of a session, and is ended where one document takes too long; then another one
is begun.
"""

from __future__ import annotations

import json
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.host.limits import limits, raised
from pytest_maxrandom.host.workers import Worker
from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.tasks.lm_eval.data import Rows

SECONDS = 20.0
"""For up to 500 documents, at most."""
MEMORY = 1 << 30
"""Bytes, for all that the process holds."""

_WORKER = Worker(Path(__file__).with_name("worker.py"), str(SECONDS), str(MEMORY))
_AT_ONCE = 500
"""Documents that are sent together, so that the memory of the other process holds them."""


@dataclass(frozen=True, slots=True)
class Document:
    """The fields of one document, as lm-evaluation-harness gets them from a row."""

    text: Any
    """`doc_to_text`; a number where the choices are texts of their own (`multiple_input`), and this
    is the right one."""
    choices: Any
    """`doc_to_choice`."""
    target: Any
    """`doc_to_target`."""
    prefix: Any = None
    """`gen_prefix`."""
    description: Any = ""
    """What stands on top of a prompt."""


def _render(
    how: tuple[dict[str, Any], list[str], bool], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the reply for each row, up to the first that is a mistake."""
    replies: list[dict[str, Any]] = []
    size = 0
    try:
        with _WORKER.asked() as (_, requests, lines):
            for first in range(0, len(rows), _AT_ONCE):
                part = rows[first : first + _AT_ONCE]
                message = pickle.dumps((*how, list(part)))
                requests.write(struct.pack("!Q", len(message)) + message)
                requests.flush()
                for _ in part:
                    line = lines.readline()
                    replies.append(json.loads(line))
                    if "mistake" in replies[-1]:
                        return replies
                    if (size := size + len(line)) > limits().data_mb * 1_000_000:
                        raise Mistake(
                            f"its {len(rows):,} documents take more than {limits().data_mb:,} MB "
                            f"together; if they should, {raised('data_mb')}"
                        )
    except (OSError, ValueError):  # it has ended, and so the line has
        raise Mistake(
            f"rendering {min(len(rows), _AT_ONCE)} documents takes more than {SECONDS:g} "
            f"seconds or {MEMORY >> 30} GiB of memory, more than any task needs; check its "
            "templates for an endless loop"
        ) from None
    return replies


def rendered(
    fields: Mapping[str, Any], rows: Rows, columns: Sequence[str], *, numbered: bool = True
) -> list[Document]:
    """Return the fields of each row.

    Parameters
    ----------
    fields : mapping
        `doc_to_text`, `doc_to_choice`, `doc_to_target`, `gen_prefix`, `description`.
    columns : sequence of str
        A field that is one of these names stands for the column's value: those of the split that
        is scored, for demonstrations too.
    numbered : bool
        Whether a text of digits is the number of a choice.

    Raises
    ------
    Mistake
        With the row's number, from 1, where a template is wrong.
    """
    documents: list[Document] = []
    replies = _render((dict(fields), list(columns), numbered), rows.rows)
    for number, reply in enumerate(replies, 1):
        if "mistake" in reply:
            raise Mistake(f"document {number}: {reply['mistake']}")
        values = reply["values"]
        documents.append(
            Document(
                values["doc_to_text"],
                values["doc_to_choice"],
                values["doc_to_target"],
                values["gen_prefix"],
                values["description"] or "",
            )
        )
    return documents

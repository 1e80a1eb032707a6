"""What each kind of line of a ledger holds, and what is wrong with one that does not."""

from __future__ import annotations

from typing import Any, get_args

from pytest_maxrandom.stats.search import Feedback

Row = dict[str, Any]

SUBJECT = {"model": str, "model_digest": str, "quantization": str, "shots": int, "scoring": str}
_WHEN = {"kind": str, "when": str, "run": str}
FIELDS: dict[str, dict[str, type]] = {
    "set": {
        "kind": str,
        "task": str,
        "set": str,
        "examples": list,
        "questions": list,
        "chances": dict,
    },
    "prompt": {
        **_WHEN,
        **SUBJECT,
        "task_digest": str,
        "prompt": str,
        "n": int,
        "correct": int,
        "withheld": int,
    },
    "look": {
        **_WHEN,
        "look": str,
        **SUBJECT,
        "t": int,
        "best_correct": int,
        "n": int,
        "answers": str,
        "incumbent": str,
        "incumbent_model": str,
    },
    "test": {"kind": str, "test": str, "examples": list, "questions": list},
    "opening": {**_WHEN, **SUBJECT, "prompt": str, "test": str, "n": int},
    "feedback": {
        **_WHEN,
        **SUBJECT,
        "prompt": str,
        "n": int,
        "correct": int,
        "search": str,
        "feedback": str,
        "by": str,
        "budget": int,
        "accepted": int,
    },
    "closed": {**_WHEN, "search": str},
    "reworded": {**_WHEN, "set": str, "before": str, "pairs": dict},
    "apart": {**_WHEN, "set": str, "before": str, "why": str},
    "served": {
        **_WHEN,
        "model_digest": str,
        "server": str,
        "values": list,
        "texts": list,
        "content": str,
    },
}
"""Type of each field of each kind of line, in the order of the line."""
_OPEN = (("prompt", "correct"), ("feedback", "correct"))
"""What is null in the line of a prompt that was begun, or whose search must not see it; a line with
its right answers may follow. And what no search was told of a prompt."""
OPTIONAL = ("questions", "answers", "incumbent", "incumbent_model", "withheld")
"""What lines of older versions lack: for each of `examples`, the digest of its question; the digest
of the answers that a look compared, which a look at a sweep that stopped early lacks too; that of
the incumbent's prompt, which a look beside none has not; and that of the incumbent's model, which
it has only where that is not the claim's own. And the 1 of a result that was kept from a search,
which that of a suite has not."""
_CALLED = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
_LEAST = (
    ("n", 1), ("t", 1), ("shots", 0), ("correct", 0), ("best_correct", 0), ("budget", 0),
    ("accepted", 0),
)  # fmt: skip
_MOST = 10**9
"""Of any number: so many prompts, examples or shots nobody has, and arithmetic ends somewhere."""
RESTORE = "restore the line from version control"


def mistake(row: Row) -> str | None:
    """Say what is wrong with the object, or None."""
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        return _of_newer(f"kind {shown(kind)}", ", ".join(FIELDS))
    fields = FIELDS[kind]
    if unknown := [name for name in row if name not in fields]:
        return _of_newer(f"the field {shown(unknown[0])} in a line of kind {kind}", "none such")
    for name, expected in fields.items():
        if name not in row and name in OPTIONAL:
            continue
        if name not in row:
            return f"found a line of kind {kind} without {name}; {RESTORE}"
        begun = (kind, name) in _OPEN and row[name] is None
        if type(row[name]) is not expected and not begun:
            found = shown(row[name])
            return f"{name}: found {found}, expected {_CALLED[expected]}; {RESTORE}"
    return _contradiction(row)


def _contradiction(row: Row) -> str | None:
    examples = row.get("examples", [""])
    if not examples or any(type(example) is not str for example in examples):
        return f"examples: found {shown(examples)}, expected texts; {RESTORE}"
    questions: Any = row.get("questions", examples)
    if len(questions) != len(examples) or any(type(each) is not str for each in questions):
        found = shown(questions)
        return (
            f"questions: found {found}, expected {len(examples)} texts, one an example; {RESTORE}"
        )
    pairs = row.get("pairs", {})
    if any(type(each) is not str for each in pairs.values()):
        return f"pairs: found {shown(pairs)}, expected a text for each question; {RESTORE}"
    if any(type(each) is not float for each in row.get("values", ())):
        return f"values: found {shown(row['values'])}, expected numbers; {RESTORE}"
    if any(type(each) is not str for each in row.get("texts", ())):
        return f"texts: found {shown(row['texts'])}, expected texts; {RESTORE}"
    sizes = row.get("chances", {"": len(examples)}).values()
    if any(type(size) is not int for size in sizes) or sum(sizes) != len(examples):
        return (
            f"chances: found {shown(row['chances'])}, expected the numbers of examples, "
            f"{len(examples)} in all; {RESTORE}"
        )
    if row.get("feedback", "none") not in (kinds := get_args(Feedback)):
        return _of_newer(f"feedback {shown(row['feedback'])}", ", ".join(kinds))
    for name, least in _LEAST:
        if row.get(name) is not None and row[name] < least:
            return f"{name}: found {row[name]}, expected at least {least}; {RESTORE}"
        if (row.get(name) or 0) > _MOST:
            return f"{name}: found {shown(row[name])}, expected at most {_MOST:,}; {RESTORE}"
    for name in ("correct", "best_correct"):
        if (row.get(name) or 0) > row.get("n", 0):
            return f"{name}: found {row[name]}, expected at most n, which is {row['n']}; {RESTORE}"
    return None


def _of_newer(found: str, expected: str) -> str:
    return (
        f"found {found}, expected {expected}; if a newer version of pytest-maxrandom wrote it, "
        "upgrade this one, else restore the line from version control"
    )


def shown(value: object) -> str:
    """Write a value of a line, shortened."""
    text = repr(value.decode("ascii", "replace").strip() if isinstance(value, bytes) else value)
    return text if len(text) <= 60 else text[:57] + "..."

"""What a first suite still needs, in one message with the line that says it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def asked_for(
    whole: str,
    missing: Mapping[str, str],
    told: Sequence[str] | None,
    free: Collection[str],
    command: Sequence[str],
    ways: Sequence[str] = (),
) -> str:
    """Say all that is missing with the reason, what columns are, and which line says the rest.

    Parameters
    ----------
    whole : str
        What needs it.
    missing : mapping of str to str
        The reasons, by keys.
    told : sequence of str or None
        What is known of columns; None where there are none.
    free : collection of str
        The other columns.
    command : sequence of str
        The line, in words.
    ways : sequence of str
        Lines with what could be said instead.
    """
    number = "1 thing" if len(missing) == 1 else f"{len(missing)} things"
    lines = [f"{number} that {whole} needs {'is' if len(missing) == 1 else 'are'} not known"]
    keys: dict[str, list[str]] = {}
    for key, why in missing.items():
        keys.setdefault(why, []).append(key)
    lines += [f"  {', '.join(own)}: {why}" for why, own in keys.items()]
    if told is not None:
        rest = f"; free are {listed(free)}" if free else ""
        lines.append(f"Of its columns {', '.join(told) or 'none is known'}{rest}")
    lines += ["Say it, with your own values:", f"  {shlex.join(command)}", *ways]
    return "\n".join(lines)

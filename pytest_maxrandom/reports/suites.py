"""Suites that make claims about the same things, which must not be added up or mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.summary import ends, model_name, shots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.record import ClaimRecord


def by_suite(claims: Iterable[ClaimRecord]) -> dict[str, list[ClaimRecord]]:
    """Group claims by their suites, as far as suites have a task, model and shots in common.

    Returns
    -------
    dict of str to list of ClaimRecord
        By the shortest end of the suite's path that tells it from the others; the claims of all
        suites that have nothing in common with another one stand together under an empty text.
    """
    known = list(claims)
    about: dict[tuple[str, str, str], set[str]] = {}
    for claim in known:
        about.setdefault((claim.task, model_name(claim), shots(claim)), set()).add(_path(claim))
    alike = {path for paths in about.values() if len(paths) > 1 for path in paths}
    shared = list(dict.fromkeys(path for path in map(_path, known) if path in alike))
    named = dict(zip(shared, ends(shared), strict=True)) if shared else {}
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in known:
        groups.setdefault(named.get(_path(claim), ""), []).append(claim)
    return groups


def _path(claim: ClaimRecord) -> str:
    return claim.id.partition("::")[0]

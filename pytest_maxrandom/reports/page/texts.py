"""Whose texts a page may hold.

An artifact of CI is read by more people, and kept by more programs, than a file of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.record import ClaimRecord

Texts: TypeAlias = Literal["all", "shared"]
"""The texts of all suites, or of those that say ``share: texts``."""
_NO = ("", "0", "false")


def allowed_texts(said: Literal["auto"] | Texts, environ: Mapping[str, str]) -> Texts:
    """Return whose texts a page may hold, where the user leaves that to the place.

    Every CI that is widely used sets the variable ``CI``.
    """
    if said != "auto":
        return said
    return "all" if environ.get("CI", "").lower() in _NO else "shared"


def may_show(claim: ClaimRecord, texts: Texts) -> bool:
    """Tell whether a page may hold the texts of a claim."""
    return texts == "all" or claim.share == "texts"

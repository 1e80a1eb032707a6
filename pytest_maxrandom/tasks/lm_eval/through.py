"""Tasks with functions of Python, whose documents only lm-evaluation-harness itself can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from pytest_maxrandom.suite.spec import LmEvalSpec
    from pytest_maxrandom.tasks.lm_eval.config import Config
    from pytest_maxrandom.tasks.lm_eval.templates import Document


def documents(
    config: Config, spec: LmEvalSpec, splits: tuple[str, str | None]
) -> tuple[list[Document], list[Document] | None]:
    """Return the documents of a split, and those that demonstrations are drawn from.

    Parameters
    ----------
    splits : tuple of str
        The split that is scored, and that of demonstrations; None where it is the same.

    Raises
    ------
    Mistake
        In one sentence, where its code must not run or fails.
    """
    named = ", ".join(f"`{key}: {name}`" for key, name in config.functions().items())
    raise Mistake(f"it runs functions of Python ({named}), which cannot be run yet")

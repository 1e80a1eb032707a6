"""Examples that share a long text, such as a passage, and no stated cluster.

Who knows one text and not another is right on as many examples as few of them, so accuracies are
less certain than n says. `clustered_answers` has those whose right answers follow the text.
"""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.texts import CLUSTERS, SHARED, shared_text


def _check(judged: JudgedAnswers) -> Found:
    found = shared_text(judged.answers)
    if found is not None and not found.followed:
        yield Flag("shared_text", found.parameters)


RED_FLAG = RedFlagKind(
    kind="shared_text",
    rank=50,
    topic="examples",
    default="warn",
    description="Examples without a stated cluster that share a long text.",
    sentences=f"{SHARED}. Right answers do not follow the text, but for a model that knows only "
    "some texts the result is as uncertain as on {worth:.0f} examples; group them with "
    f"{CLUSTERS}",
    brief="examples share text",
    remedy="name the clusters",
    check=_check,
)

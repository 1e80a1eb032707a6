"""What a suite may say of replicates, and where it contradicts itself in that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from pytest_maxrandom.errors import dotted
from pytest_maxrandom.suite.base import Seed, Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[str | int, ...]

Count = Annotated[int, Field(ge=2, le=1000)]


class ReplicatesSpec(Spec):
    """The same claims with other validation examples and other demonstrations."""

    count: Count
    """How many; the claim itself is the first of them."""
    seed: Seed = 0
    """Another seed draws other replicates."""


def _counted(value: Any) -> Any:
    """Let a number stand for so many replicates."""
    return value if isinstance(value, dict) else {"count": value}


Replicates = Annotated[
    ReplicatesSpec, BeforeValidator(_counted, json_schema_input_type=Count | ReplicatesSpec)
]


class ReplicatedSettings(Spec):
    """What a suite whose models are run may say of replicates."""

    replicates: Replicates | None = None
    """How often each claim is repeated with examples and demonstrations that are drawn anew."""


def contradictions_of_replicates(
    suite: dict[str, Any], *, recorded: bool
) -> Iterator[tuple[Place, str]]:
    """Yield where replicates are asked for that there are not, or cannot be.

    Parameters
    ----------
    suite
        What the file says.
    recorded
        Whether its results are recorded.
    """
    asking = list(_asking_for_a_share(suite))
    if recorded:
        for place in [("replicates",), *asking] if "replicates" in suite else asking:
            yield (
                place,
                f"`{dotted(place)}` is about examples and demonstrations that are drawn anew, and "
                "these results are recorded; remove it, and see `maxrandom replication` for "
                "results that hold replicates",
            )
    elif suite.get("replicates") is None:
        for place in asking:
            yield (
                place,
                f"`{dotted(place)}` is a share of the suite's replicates, and it has none; add "
                "`replicates: 20` to the suite, or remove this",
            )


def _asking_for_a_share(suite: dict[str, Any]) -> Iterator[Place]:
    tasks = suite.get("tasks")
    listed = enumerate(tasks) if isinstance(tasks, list) else ()
    parts: list[tuple[Place, Any]] = [((), suite)]
    parts += [(("tasks", index), task) for index, task in listed]
    for place, part in parts:
        asserted = part.get("assert") if isinstance(part, dict) else None
        if isinstance(asserted, dict) and asserted.get("in_replicates") is not None:
            yield (*place, "assert", "in_replicates")

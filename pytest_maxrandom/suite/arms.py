"""Arms by name, and what the types cannot say of them: parts that contradict each other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.base import FormatSpec
    from pytest_maxrandom.suite.designs import CompareSpec, ContaminationSpec
    from pytest_maxrandom.suite.models import ArmSpec, ModelSpec
    from pytest_maxrandom.suite.recorded import RecordedModelSpec
    from pytest_maxrandom.suite.spec import PromptsSpec

    Finding = tuple[tuple["str | int", ...], str]
    Model = ModelSpec | RecordedModelSpec


def model_names(models: Sequence[Model]) -> dict[str, int]:
    """Return what models may be called in comparisons, each with its place.

    That is the short name with the quantization, and without it where it is the only one.
    """
    short = [model.short_name for model in models]
    names = {name: place for place, name in enumerate(short) if Counter(short)[name] == 1}
    return {model.test_id: place for place, model in enumerate(models)} | names


def split_comparison(text: str, arms: Collection[str]) -> tuple[str, str]:
    """Read "a-b" or "a - b", the difference of two arms, whose names may have hyphens.

    Raises
    ------
    ValueError
        If it names no two different arms, or can be read in two ways.

    Examples
    --------
    >>> split_comparison("llama-nf4 - llama", ["llama", "llama-nf4"])
    ('llama-nf4', 'llama')
    """
    places = [place for place, letter in enumerate(text) if letter == "-"]
    splits = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    found = [(a, b) for a, b in splits if a in arms and b in arms and a != b]
    if len(found) == 1:
        return found[0]
    if found:
        ways = " or as ".join(f"{a!r} - {b!r}" for a, b in found)
        raise ValueError(f"{text!r} can be read as {ways}; rename an arm")
    known = ", ".join(map(repr, arms)) or "none"
    raise ValueError(
        f"found {text!r}, expected two different arms with a hyphen between them, of: {known}"
    )


def two_arms(text: str, names: Collection[str]) -> tuple[str, str]:
    """Read "first - second".

    Raises
    ------
    ValueError
        In one sentence, if that names no two of the arms.
    """
    try:
        return split_comparison(text, names)
    except ValueError:
        unknown = [part for part in text.split(" - ") if part.strip() not in names]
        if text.count(" - ") == 1 and unknown:
            raise ValueError(unknown_arm(unknown[0].strip(), names)) from None
        raise


def unknown_arm(name: str, names: Collection[str]) -> str:
    """Say that there is no arm of this name, and which was perhaps meant."""
    hint = did_you_mean(name, names, "`{}`".format, cutoff=0.5)
    return f"there is no arm {name!r}{hint} (arms here: {', '.join(names)})"


def contradictions_of_arms(
    arms: Mapping[str, ArmSpec | None], models: int, prompts: PromptsSpec | None
) -> Iterator[Finding]:
    """Yield arms that do not change exactly one thing of the suite, or cannot.

    Parameters
    ----------
    arms
        None stands for an arm that is a mistake by itself.
    models : int
        How many models the suite names.
    """
    if models > 1:
        yield (
            ("models", 1),
            f"found {models} models, expected one, because `arms` are changes of one model; give "
            "the others as arms, such as `other: {model: NAME}`",
        )
    variants = {
        "instruction": len(prompts.instructions or ()) if prompts else 0,
        "format": len(prompts.formats or ()) if prompts else 0,
    }
    for name, arm in arms.items():
        changes = things_changed(arm) if arm else []
        if len(changes) > 1:
            yield (
                ("arms", name),
                f"arms.{name} changes {' and '.join(changes)}; an arm changes one thing, so that "
                "a difference has one cause: make two arms of it",
            )
        for key in changes:
            if variants.get(key, 0) > 1:
                yield (
                    ("arms", name, key),
                    f"arms.{name}.{key}: the suite varies this already, with {variants[key]} "
                    f"`prompts.{key}s`; leave one there, or remove this arm",
                )
        if arm and arm.format and _labels_nothing(arm.format, (prompts and prompts.formats) or []):
            yield (
                ("arms", name, "format"),
                f"arms.{name}.format: labels that are not the choices' text need the choices "
                "listed; remove `append_choices: false` or use `labels: text`",
            )


def _labels_nothing(changed: FormatSpec, formats: Sequence[FormatSpec]) -> bool:
    """Tell whether a format, with what it leaves as the suite has it, labels unlisted choices."""
    base = formats[0] if len(formats) == 1 else changed
    given = base.model_dump() | changed.model_dump(exclude_unset=True)
    return given["labels"] != "text" and given["append_choices"] is False


def things_changed(arm: ArmSpec) -> list[str]:
    """Return what an arm changes, as its keys; a model comes with its revision."""
    keys = [key for key, value in arm if value is not None]
    return [key for key in keys if key != "revision" or "model" not in keys]


def contradictions_of_comparisons(
    names: Mapping[str, int],
    compare: Sequence[CompareSpec | None],
    contamination: ContaminationSpec | None,
) -> Iterator[Finding]:
    """Yield comparisons of what does not exist, or that contradict themselves.

    Parameters
    ----------
    names
        What arms may be called, with what tells them apart.
    compare
        None stands for an entry that is a mistake by itself.
    """
    first: dict[str, int] = {}
    for place, spec in enumerate(compare):
        if spec is None:
            continue
        where = f"compare[{place}]"
        try:
            one, other = two_arms(spec.arms, names)
        except ValueError as error:
            yield ("compare", place, "arms"), f"{where}: {error}"
            continue
        if names[one] == names[other]:
            yield ("compare", place, "arms"), f"{where}: {one!r} and {other!r} are one model"
        if (earlier := first.setdefault(f"{one}-{other}", place)) != place:
            yield (
                ("compare", place, "arms"),
                f"{where} would have the same test ids as compare[{earlier}]; remove one of the "
                "two, or rename an arm",
            )
        yield from _contradictions_of_claim(place, spec)
    if contamination is None:
        return
    arms = {key: getattr(contamination, key) for key in ("base", "extra", "test")}
    for key, name in arms.items():
        if name not in names:
            yield ("contamination", key), f"contamination.{key}: {unknown_arm(name, names)}"
    known = [names[name] for name in arms.values() if name in names]
    if len(set(known)) < len(known):
        yield (
            ("contamination",),
            "contamination: base, extra and test must be three different arms",
        )


def _contradictions_of_claim(place: int, spec: CompareSpec) -> Iterator[Finding]:
    claim = spec.assertion
    if claim is None:
        if spec.xfail:
            yield (
                ("compare", place, "xfail"),
                f"compare[{place}]: `xfail` expects to fail what is asserted, and nothing is; "
                "give `assert`, or remove it",
            )
    elif (claim.not_worse_than is None) == (claim.better is None):
        found = "neither" if claim.better is None else "both"
        yield (
            ("compare", place, "assert"),
            f"compare[{place}].assert: found {found} of `not_worse_than` and `better`, expected "
            "one of the two",
        )

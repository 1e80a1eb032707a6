"""What of a task, or of a file, an arm's model is trained on, and whether that may be compared."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.drawn import NoTexts, right_choice
from pytest_maxrandom.errors import Problem, SuiteError, dotted
from pytest_maxrandom.models.training import LabelledText, Trained, Training
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark, TrainingRecord
from pytest_maxrandom.stats.seeding import Stream, digest
from pytest_maxrandom.sweeps.prompts.formats import Prompt
from pytest_maxrandom.tasks.texts import holding, normal, read_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.condition import Apart, Condition
    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.training import TrainSpec
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
    from pytest_maxrandom.tasks.task import Example


def training_of(
    suite: SuiteSpec, arm: str | None, condition: Condition, base: Path, replicate: int
) -> Training | None:
    """Return what an arm's model is trained on; None where it is run as it is.

    Raises
    ------
    NoTexts, SuiteError
        If the arm's file of texts has too few, or those of the test set.
    """
    own, apart = (suite.arms or {}).get(arm or ""), condition.apart
    settings, head = own.train if own else None, (own and own.classify) or suite.classify
    if apart is None or (settings is None and head is None):
        return None
    texts: tuple[str, ...] = ()
    if settings is not None and settings.path is not None:
        texts = _of_file(settings, str(arm), condition, base, replicate)
    elif settings is not None:
        examples = _read(settings, condition.prompt_set, apart)
        texts = tuple(_written(settings, examples, condition.prompt_set))
    labels = tuple(sorted(condition.task.examples[0].choices)) if head else ()
    shown = apart.labelled[head] if head else ()
    seeds = suite.replicates.seed if suite.replicates else 0
    return Training(
        settings=settings,
        texts=texts,
        classify=head,
        labelled=tuple(LabelledText(each.text, labels.index(right_choice(each))) for each in shown),
        labels=labels,
        seed=Stream(seeds, "training", replicate).below(2**31) if replicate else 0,
    )


def shared(training: Training, condition: Condition) -> dict[str, int]:
    """Count the examples of each other side whose text is read in further pretraining.

    Of the test set and of labelled examples there are none, or :func:`training_of` refuses.
    """
    settings, apart = training.settings, condition.apart
    if settings is None or apart is None:
        return {}
    sides = {
        "scored": condition.prompt_set.validation,
        "labelled": tuple(itertools.chain(*apart.labelled.values())),
        "test": condition.test,
    }
    if settings.path is not None:
        return {side: holding(training.texts, each) for side, each in sides.items() if each}
    known = {normal(each.text) for each in _read(settings, condition.prompt_set, apart)}
    return {
        side: sum(normal(one.text) in known for one in each) for side, each in sides.items() if each
    }


def unfair(extra: Training | None, test: Training | None, condition: Condition) -> Iterator[str]:
    """Say why two arms' texts cannot tell whether a benchmark's own inflate its score.

    Nothing where they can, or where the arms are not trained here.
    """
    if extra is None or test is None or extra.settings is None or test.settings is None:
        return
    task, scored = condition.task.name, condition.prompt_set.validation
    if len(extra.texts) != len(test.texts):
        yield (
            f"extra is trained on {count(len(extra.texts))} texts of {task}, and test on "
            f"{count(len(test.texts))}; give both as many by `examples`"
        )
    if extra.settings.path is not None and (same := holding(extra.texts, scored)):
        yield (
            f"{extra.settings.path} of extra holds {count(same)} of the texts of {task} that are "
            "scored; extra needs other texts"
        )
    if test.settings.path is None:
        return
    if not holding(test.texts, scored):
        yield (
            f"{test.settings.path} of test holds none of the {count(len(scored))} texts of {task} "
            "that are scored, so that it differs in nothing from other texts; put them into it, "
            "or write `text: scored`"
        )
    known = set(map(normal, test.texts))
    read = extra.texts
    if extra.settings.path is None and condition.apart is not None:
        read = tuple(
            each.text for each in _read(extra.settings, condition.prompt_set, condition.apart)
        )
    if same := sum(normal(each) in known for each in read):
        yield (
            f"{test.settings.path} of test holds {count(same)} of the texts that extra is trained "
            f"on for {task}; the two need different texts"
        )


def wrong_files(
    named: Mapping[str, str], base: Path, line: Callable[..., int | None], suite: Path
) -> Iterator[Problem]:
    """Yield what is wrong with the files of texts themselves.

    Parameters
    ----------
    named : mapping of str to str
        The path of each arm.
    base : Path
        The folder that paths are relative to.
    line : callable
        Tells the line of a place in the suite.
    suite : Path
        The suite file.
    """
    for arm, path in named.items():
        place = ("arms", arm, "train", "text")
        try:
            read_texts(path, base, lambda *_, place=place: (suite, line(*place)))
        except SuiteError as error:
            for each in error.problems:
                here = f"{dotted(place)}: " if each.path == suite else ""
                yield replace(each, message=f"{here}{each.message}")


def _read(settings: TrainSpec, prompts: PromptSet, apart: Apart) -> Sequence[Example]:
    """Return the examples whose texts an arm reads."""
    scored = prompts.validation
    asked = settings.examples or len(scored)
    if settings.text == "extra":
        return apart.extra[:asked]
    return sorted(scored, key=lambda each: digest("scored", each.id))[:asked]


def _written(settings: TrainSpec, examples: Sequence[Example], prompts: PromptSet) -> Iterator[str]:
    """Yield the texts: alone, or as the prompts ask, in their formats by turns, without answers."""
    if settings.form == "text":
        yield from (each.text for each in examples)
        return
    formats = list(dict.fromkeys(prompt.format for prompt in prompts.prompts))
    for each, form in zip(examples, itertools.cycle(formats), strict=False):
        yield Prompt((), form).context(each)


def _of_file(
    settings: TrainSpec, arm: str, condition: Condition, base: Path, replicate: int
) -> tuple[str, ...]:
    place: Location = ("arms", arm, "train", "text")
    assert settings.path is not None
    texts = read_texts(settings.path, base, lambda *_: (base, None))
    wrong = []
    if same := holding(texts, condition.test):
        reason = (
            f"{settings.path} holds the texts of {count(same)} examples of {condition.task.name}'s "
            "test set, which is never trained on; remove them from the file, or `test`"
        )
        wrong.append(NoTexts(reason, place))
    labelled = condition.apart.labelled.values() if condition.apart else ()
    if same := holding(texts, itertools.chain(*labelled)):
        reason = (
            f"{settings.path} holds the texts of {count(same)} labelled examples of "
            f"{condition.task.name}; remove them from the file, or label others by another `seed` "
            "of `classify`"
        )
        wrong.append(NoTexts(reason, place))
    asked = settings.examples or len(texts)
    if asked > len(texts):
        reason = (
            f"found {count(asked)}, expected at most {count(len(texts))}, which {settings.path} has"
        )
        wrong.append(NoTexts(reason, ("arms", arm, "train", "examples")))
    if wrong:
        raise NoTexts.all(wrong)
    drawn = sorted(range(len(texts)), key=lambda k: digest("file", replicate, k))[:asked]
    return tuple(texts[k] for k in sorted(drawn))


def training_record(training: Training | None, condition: Condition) -> TrainingRecord | None:
    """Return what can be said of the training of a claim's model before it is trained."""
    if training is None or condition.apart is None:
        return None
    settings, head = training.settings, training.classify
    counted = Counter(training.labels[each.label] for each in training.labelled)
    return TrainingRecord(
        text=None if settings is None else settings.text,
        texts=len(training.texts),
        text_digest=training.text_digest,
        settings={}
        if settings is None
        else {**settings.model_dump(), "learning_rate": settings.rate},
        classify={} if head is None else head.model_dump(),
        labelled={label: counted[label] for label in training.labels},
        seed=training.seed,
        copies=condition.apart.copies,
        shared=shared(training, condition),
    )


def trained_record(
    training: Training | None, condition: Condition, found: Trained | None
) -> tuple[TrainingRecord | None, list[Remark]]:
    """Return what training found, and a note where the loss did not fall."""
    record = training_record(training, condition)
    if record is None or found is None:
        return record, []
    of_run = ("pretraining_steps", "tokens", "steps", "cut", "seconds", "peak_memory", "threads",
              "from_cache")  # fmt: skip
    values = {name: getattr(found, name) for name in of_run}
    told = [] if found.falls else [Remark("loss_did_not_fall")]
    return replace(record, losses=list(found.losses), **values), told

"""Tasks of lm-evaluation-harness whose generated answers are judged by exact match.

An answer is right where `exact_match` of lm-evaluation-harness says so, to the character: with the
settings of the task's metric, on what its filter leaves of the answer. Of several references one is
enough. DROP alone is judged by a function of its own, whose exact match is written here, too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.lm_eval.config import Config, Function
from pytest_maxrandom.tasks.lm_eval.examples import (
    Texts,
    Unanswerable,
    joined,
    prefix_of,
    text_of,
)
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.reading import Mistake
from pytest_maxrandom.tasks.references import Filter, Matching, Open, kind_of
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.suite.prompts import TextPart
    from pytest_maxrandom.tasks.lm_eval.documents import Document

_TOKENS = 256
"""`max_gen_toks` of a task that gives none."""
_JUDGE_OF_DROP = "utils.process_results"
_SHOWN_OF_DROP = "{{answers[0]|join(', ')}}"
"""What demonstrations show; by the task's own `doc_to_target` the names of an answer's fields."""
_OF_LIST = {"metric", "aggregation", "higher_is_better"}
_IGNORED = ("ignore_case", "ignore_punctuation", "ignore_numbers", "regexes_to_ignore")
_FILTERS = {
    "regex": {"regex_pattern", "group_select", "fallback"},
    "take_first": set[str](),
    "remove_whitespace": set[str](),
    "lowercase": set[str](),
    "uppercase": set[str](),
}
"""The filters that are done here, with their settings."""


def is_generated(config: Config) -> bool:
    """Tell whether answers are generated."""
    return bool(config.get("output_type", "generate_until") == "generate_until")


def is_open(config: Config) -> bool:
    """Tell whether answers are generated, and none of known choices."""
    return is_generated(config) and config.get("doc_to_choice") is None


def is_drop(config: Config) -> bool:
    """Tell whether the function of DROP that comes with the installed lm-eval judges answers."""
    judge, folder = config.get("process_results"), installed()
    return (
        is_open(config)
        and isinstance(judge, Function)
        and judge.name == _JUDGE_OF_DROP
        and folder is not None
        and judge.folder.resolve() == (folder / "drop").resolve()
    )


def with_answers_of_drop(config: Config, shown: str | None) -> Config:
    """Return DROP's task with what its function compares answers with in place of its target.

    Demonstrations show another one, if any.
    """
    fewshot = {"doc_to_target": shown or _SHOWN_OF_DROP, **config.get("fewshot_config", {})}
    return config.changed({"doc_to_target": "answers", "fewshot_config": fewshot})


def matching_of(config: Config, asked: str | None) -> Matching:
    """Return when a generated answer is right.

    Parameters
    ----------
    asked : str or None
        Name of the task's filter; None for its first one.

    Raises
    ------
    Mistake
        Where the task judges or filters answers in a way that is not known here.
    """
    how_compared = Matching(numbers=False, drop=True) if is_drop(config) else _compared(config)
    if config.get("repeats", 1) != 1:
        raise Mistake(
            f"`repeats: {config.get('repeats')}` asks each question several times, and one answer "
            "is read here; set it to 1"
        )
    how = config.get("generation_kwargs", {})
    how = how if isinstance(how, dict) else {}
    until = how.get("until")
    until = [until] if isinstance(until, str) else until
    return replace(
        how_compared,
        filters=_filters(config, asked),
        stop=None if until is None else tuple(map(str, until))[:16],
        max_tokens=how.get("max_gen_toks", _TOKENS),
    )


def _compared(config: Config) -> Matching:
    metrics = config.get("metric_list", [])
    for each in metrics if isinstance(metrics, list) else []:
        if isinstance(each, dict) and each.get("metric") == "exact_match":
            return compared_by(each)
    raise Mistake(
        "`metric_list` names no `exact_match`, by which alone generated answers without choices "
        "are judged here; if they are a few words, give these as `doc_to_choice` in the suite, and "
        "use `scoring: generate`"
    )


def compared_by(metric: Mapping[str, Any]) -> Matching:
    """Return when an answer is right by the settings of `exact_match` in a task's `metric_list`.

    Raises
    ------
    Mistake
        Where one of them is not known here.
    """
    if unknown := sorted(set(metric) - _OF_LIST - set(_IGNORED)):
        raise Mistake(f"`metric_list`: `{unknown[0]}` of exact_match is not supported")
    parts: list[TextPart] = []
    parts += ["case"] * bool(metric.get("ignore_case"))
    parts += ["punctuation"] * bool(metric.get("ignore_punctuation"))
    patterns = metric.get("regexes_to_ignore") or []
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise Mistake(f"`metric_list`: {quoted(str(pattern))}: {error}") from None
    return Matching(
        parts=tuple(parts),
        numbers=False,
        ignored=tuple(patterns),
        digits=not metric.get("ignore_numbers"),
    )


def _filters(config: Config, asked: str | None) -> tuple[Filter, ...]:
    given = config.get("filter_list") or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise Mistake(f"`filter_list`: found {described(given)}, expected a list of filters")
    names = [str(each.get("name", "")) for each in given]
    if asked is not None and asked not in names:
        hint = did_you_mean(asked, names) or f"; found {listed(names) or 'none'}"
        raise Mistake(f"`filter_list` has no filter {quoted(asked)}{hint}")
    if not given:
        return ()
    steps = given[0 if asked is None else names.index(asked)].get("filter") or []
    filters = []
    for step in steps:
        settings = dict(step)
        name = str(settings.pop("function", ""))
        if name not in _FILTERS or set(settings) - _FILTERS[name]:
            what = name if name not in _FILTERS else sorted(set(settings) - _FILTERS[name])[0]
            raise Mistake(
                f"`filter_list`: `{what}` is not supported; known are {listed(sorted(_FILTERS))}"
            )
        filters.append(Filter(name, tuple(sorted(settings.items()))))
    return tuple(filters)


def open_example(document: Document, name: str, texts: Texts, matching: Matching) -> Example:
    """Return the example of a document, whose target is a reference, or a list of them.

    Its kind is that of the reference without what is ignored: of a solution, of its last number.
    An answer of several texts, as DROP has them, is none that a model can write as one.

    Raises
    ------
    Unanswerable
        Where there is no reference.
    Mistake
        Where a field is nothing that it can be.
    """
    target: Any = document.target
    given = target if isinstance(target, list) else [target]
    if matching.drop:
        given = [each[0] for each in given if len(each) == 1 and each[0].strip()]
    references = [str(each) for each in given]
    if target is None or not any(each.strip() for each in references):
        raise Unanswerable("no_right_choice")
    text = text_of(document.text, "doc_to_text")
    question = joined(text, prefix_of(document), texts.target_delimiter)
    how = Open(kind_of(Matching((), ignored=matching.ignored).normal(references[0])))
    return Example.without_choices(name, question, [*dict.fromkeys(references)], how)

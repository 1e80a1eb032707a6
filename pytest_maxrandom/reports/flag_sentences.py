"""The sentences of red flags: what was found, and what to look at.

Each kind has a function, or one for each way in which it is found (`case`), of its parameters.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom import notation
from pytest_maxrandom.notation import (
    accuracy,
    chances,
    count,
    equals,
    p_value,
    percent,
    span,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.record import HeuristicName, RedFlag
    from pytest_maxrandom.record.claim import Measure

    Stated = str | Mapping[str, int]

HEURISTICS: dict[HeuristicName, str] = {
    "most_frequent": "the most frequent label",
    "longest": "the longest choice",
    "shortest": "the shortest choice",
    "first": "the first choice as shown",
    "last": "the last choice as shown",
    "most_shared_words": "the choice with most words of the question",
}
MEASURES: dict[Measure, str] = {
    "accuracy": "an accuracy",
    "balanced_accuracy": "a balanced accuracy",
}
_LOOK = "look how many choices there are"
_ONE_MODEL = "look whether the two are one model"
_CLUSTERS = "`columns: {cluster: ...}`"


def sentence(flag: RedFlag) -> str:
    """Word a red flag anew; one without parameters, or with unknown ones, has the text it has."""
    case = flag.parameters.get("case")
    worded = _SENTENCES.get(flag.kind if case is None else f"{flag.kind}.{case}")
    if worded is None or not flag.parameters:
        return flag.text
    given = {name: value for name, value in flag.parameters.items() if name != "case"}
    try:
        return worded(**given)
    except (TypeError, ValueError, LookupError, ArithmeticError):
        if not flag.text:
            raise
        return flag.text


def _of_prompts(part: int, whole: int, one: str, several: str) -> str:
    """Say how many prompts do something, with the verb that follows; starts a sentence.

    Examples
    --------
    >>> _of_prompts(1, 40, "is", "are"), _of_prompts(2, 40, "is", "are")
    ('1 of 40 prompts is', '2 of 40 prompts are')
    >>> _of_prompts(1, 1, "is", "are")
    'The only prompt is'
    """
    if whole == 1:
        return f"The only prompt {one}"
    return f"{count(part)} of {count(whole)} prompts {one if part == 1 else several}"


def _of_answers(told: int, answers: int, whose: str = "") -> str:
    return f"{count(told)} of {count(answers)} answers ({percent(told / answers)}){whose}"


def _chance(stated: Stated) -> str:
    if isinstance(stated, str):
        return stated
    return chances({Fraction(chance): many for chance, many in stated.items()})


def _said(choices: list[int] | None, stated: Stated | None) -> str:
    if choices is not None:
        return f"the results say {span(choices)} choices"
    return f"chance is said to be {_chance(stated or '')}"


def _choices_chance(choices: list[int], chance: str | float, stated: Stated) -> str:
    shown = chance if isinstance(chance, str) else f"{accuracy(chance)} on average"
    return (
        f"By the results, whose examples have {span(choices)} choices, chance is {shown}, but "
        f"chance is said to be {_chance(stated)}: {_LOOK}."
    )


def _choices_more(
    told: int,
    examples: int,
    labels: int,
    choices: list[int] | None = None,
    stated: Stated | None = None,
) -> str:
    return (
        f"In {count(told)} of {count(examples)} examples the answers and the right answer are of "
        f"up to {labels} different choices, but {_said(choices, stated)}: {_LOOK}."
    )


def _choices_fewer(
    labels: int,
    examples: int,
    choices: list[int] | None = None,
    stated: Stated | None = None,
) -> str:
    return (
        f"Only {labels} different answers are ever given or right in {count(examples)} examples, "
        f"but {_said(choices, stated)}: {_LOOK}."
    )


def _choices_fewer_given(
    labels: int,
    examples: int,
    choices: list[int] | None = None,
    stated: Stated | None = None,
) -> str:
    return (
        f"Only {labels} different answers are ever given, and one of them is right in each of "
        f"{count(examples)} examples to which all that are ever right were given, but "
        f"{_said(choices, stated)}: {_LOOK}."
    )


def _complementary_prompts(prompts: list[str], accuracies: list[float], chance: str) -> str:
    one, other = prompts
    return (
        f"Prompts {one!r} and {other!r} are right on exactly complementary examples "
        f"({' and '.join(map(accuracy, accuracies))}), as the two constant answers to questions "
        f"with two choices are, but chance is {chance}: {_LOOK}."
    )


def _colliding_ids(ids: int, stated: int) -> str:
    return (
        f"The results hold {count(ids)} example ids, but n is said to be {count(stated)}: look "
        "whether examples share ids, so that one took the place of another, or fewer were scored."
    )


def _repeated_examples(n: int, different: int) -> str:
    return (
        f"There are {count(n)} examples, but only {count(different)} different "
        f"one{'s' * (different > 1)} by text and choices: a model answers copies alike, a guesser "
        "does not, so p-values are too small; look which field is the input, or remove the copies."
    )


def _clustered_choices(examples: int, n: int, alike: list[str], worth: float) -> str:
    one, other = alike
    return (
        f"{count(examples)} of {count(n)} examples offer the same choices as a few others, and "
        "examples with the same choices have the same right answer, as have "
        f"{one!r} and {other!r}: to who prefers some choices to others the {count(n)} are worth "
        f"{worth:.0f}, so p-values are too small; name them as clusters with {_CLUSTERS}."
    )


def _shared(n: int, texts: int, alike: list[str], characters: int, *, beyond_clusters: bool) -> str:
    one, other = alike
    beyond = ", more than the stated clusters tell" if beyond_clusters else ""
    return (
        f"The inputs of {count(n)} examples hold {count(texts)} different texts: those of "
        f"{one!r} and {other!r}, for instance, share {characters} characters in a row or "
        f"more{beyond}"
    )


def _clustered_text(worth: float, **shared: Any) -> str:
    return (
        f"{_shared(**shared)}, and right answers follow the text: to who answers each text alike "
        f"they are worth {worth:.0f} examples, so p-values are too small; say which belong "
        f"together with {_CLUSTERS}."
    )


def _shared_text(worth: float, **shared: Any) -> str:
    return (
        f"{_shared(**shared)}. Right answers do not follow the text, but who knows one text and "
        f"not another is as uncertain as on {worth:.0f} examples; say which belong together with "
        f"{_CLUSTERS}."
    )


def _scored_on(
    what: str, told: int, prompts: int, agreeing: int, prompt: str, *, is_best: bool
) -> tuple[str, str]:
    others = "most"
    if 2 * agreeing <= prompts:
        group = f"{count(agreeing)} prompt{'s' if agreeing > 1 else ''}"
        others = f"the largest group that agrees ({group})"
    who = _of_prompts(told, prompts, "was", "were")
    named = repr(prompt) + (", the best," if is_best else "")
    return f"{who} scored on {what} examples than {others}", named


def _other_examples(size: int, shared: int, usual: int, **scored: Any) -> str:
    told, named = _scored_on("other", **scored)
    return f"{told}: {named} shares {count(shared)} of its {count(size)}."


def _fewer_examples(size: int, shared: int, usual: int, **scored: Any) -> str:
    told, named = _scored_on("fewer", **scored)
    return (
        f"{told} ({named} on {count(size)}, not {count(usual)}), which their demonstrations do not "
        "explain: look whether runs were cut short."
    )


def _more_examples(size: int, shared: int, usual: int, **scored: Any) -> str:
    told, named = _scored_on("more", **scored)
    return (
        f"{told} ({named} on {count(size)}, not {count(usual)}), which the demonstrations of those "
        "do not explain: look whether runs were cut short."
    )


def _cut_inputs(examples: int, lengths: list[int], unit: str) -> str:
    return (
        f"The inputs of {count(examples)} examples are the longest with exactly {span(lengths)} "
        f"{unit} each, and most of them end in the middle of a sentence: look whether their text "
        "was cut."
    )


def _cut_contexts(texts: int, pairs: int) -> str:
    return (
        f"The texts of {count(texts)} of {count(pairs)} (prompt, example) pairs are exactly as "
        "long as the model's context: look whether they were cut to fit it."
    )


def _constant_scores(told: int, prompts: int, different: int, examples: int) -> str:
    return (
        f"{_of_prompts(told, prompts, 'gives', 'give')} different examples the same scores (as few "
        f"as {count(different)} different ones for {count(examples)} examples): look whether the "
        "text was cut before the question."
    )


def _no_numbers(told: int, answers: int, best: str | None) -> str:
    part = _of_answers(told, answers, _of_best(best))
    return f"{part} have scores that are no numbers (NaN): look for overflow in the run."


def _tied_scores(told: int, answers: int, best: str | None) -> str:
    return (
        f"In {_of_answers(told, answers, _of_best(best))} the highest score is exactly that of "
        "another choice: look whether the scored text tells the choices apart, and how scores are "
        "rounded."
    )


def _of_best(prompt: str | None) -> str:
    return "" if prompt is None else f" of prompt {prompt!r}, the best,"


def _never_right(told: int, prompts: int, guessers: int, log_p: float) -> str:
    several = f"of {count(prompts)} guessers {count(guessers)} or more are"
    who = "a guesser is" if prompts == 1 else several
    return (
        f"{_of_prompts(told, prompts, 'is', 'are')} right on no example; {who} with probability "
        f"{p_value(math.exp(log_p), log_p)} at most: look whether texts were cut, answers were not "
        "understood, or right and wrong were exchanged."
    )


def _unsteady_prompts(repeating: int, prompts: int) -> str:
    return (
        f"{_of_prompts(repeating, prompts, 'repeats', 'repeat')} the ids of an earlier one, but "
        "not its results: ids collide, or results cannot be reproduced; t may be larger."
    )


def _identical_scores(same: int, answers: int, other: str) -> str:
    return (
        f"{_of_answers(same, answers)} to the same prompts have exactly the scores of {other}: "
        f"{_ONE_MODEL}."
    )


def _identical_labels(
    same: int, answers: int, other: str, by_chance: float, what: str = "the same"
) -> str:
    return (
        f"{_of_answers(same, answers)} to the same prompts are {what} as those of {other} (by "
        f"chance {percent(by_chance)} would be): {_ONE_MODEL}."
    )


def _identical_right(same: int, answers: int, other: str, by_chance: float) -> str:
    return _identical_labels(same, answers, other, by_chance, "right or wrong alike")


def _near_identical_prompts(told: int, prompts: int, differing: float, reached: float) -> str:
    return (
        f"{_of_prompts(told, prompts, 'is', 'are')} right on the same examples as the best one, or "
        f"on exactly the others ({percent(differing)} of the answers differ), and its accuracy is "
        f"{accuracy(reached)}: one label for every example looks like that, and without labels "
        "nothing tells it from knowledge; give answers and right answers."
    )


def _label_mass(told: int, prompts: int, below: float, least: float) -> str:
    return (
        f"{_of_prompts(told, prompts, 'gives', 'give')} all labels together a probability below "
        f"{percent(below)} (the least is {percent(least)}, mean over the examples): the model "
        "would say something else; look at the text before the answer."
    )


def _constant_answers(
    told: int, prompts: int, prompt: str | None, label: str | None, place: int, share: float
) -> str:
    who = "the best prompt" if prompt is None else repr(prompt)
    what = f"choice {place}" if label is None else repr(label)
    return (
        f"{_of_prompts(told, prompts, 'gives', 'give')} nearly every example the same answer, "
        f"though others are right as well ({who} says {what} to {percent(share)}): look whether "
        "the model reads the questions."
    )


def _always(label: str | None) -> str:
    return "Always choosing the same place" if label is None else f"Always saying {label!r}"


def _majority(label: str | None, correct: int, n: int) -> str:
    return (
        f"{_always(label)} is right on {correct} of {n} examples; the best prompt is not above "
        "that."
    )


def _majority_score(label: str | None, score: str, value: float) -> str:
    return (
        f"{_always(label)} has a {score} of {accuracy(value)}; the best prompt's is not above that."
    )


def _max_t(p_max: float, permutation_p: float, level: float) -> str:
    return (
        f"p_max {p_value(p_max)} is below {notation.level(level)}, but the permutation p is "
        f"{p_value(permutation_p, level=level)}: with the right answers shuffled the same answers "
        "are as good; look which labels the model prefers."
    )


def _rule(heuristic: HeuristicName, measure: Measure, score: float) -> str:
    return f"Always choosing {HEURISTICS[heuristic]} has {MEASURES[measure]} of {accuracy(score)}"


def _heuristic(**rule: Any) -> str:
    return f"{_rule(**rule)}; the best prompt's is not above that."


def _near_heuristic(p: float, level: float, **rule: Any) -> str:
    return (
        f"{_rule(**rule)}; the best prompt's is above that by no more than chance allows "
        f"({_sign_flip(p, level)})."
    )


def _blank(measure: Measure, score: float) -> str:
    return f"With blank inputs the best prompt has {MEASURES[measure]} of {accuracy(score)}"


def _choices_only(measure: Measure, score: float) -> str:
    return (
        f"{_blank(measure, score)}, and with the questions none above that: look what else tells "
        "right choices from wrong ones."
    )


def _near_choices_only(measure: Measure, score: float, p: float, level: float) -> str:
    return (
        f"{_blank(measure, score)}; with the questions it is above that by no more than chance "
        f"allows ({_sign_flip(p, level)})."
    )


def _sign_flip(p: float, level: float) -> str:
    return f"sign-flip p {equals(p_value(p, level=level))}, above {notation.level(level)}"


def _repeated_prompts(distinct: int, asked: int, t: int) -> str:
    counts = f"the claim counts t = {count(t)}" if t > distinct else f"t = {count(t)} counts those"
    return (
        f"Only {_of_prompts(distinct, asked, 'is', 'are')} distinct; {counts}: look how prompts "
        "are drawn, and from how many examples."
    )


def _unpassable(reasons: Sequence[Mapping[str, Any]], t: int) -> str:
    parts = " and ".join(str(notation.Unmet(**each)) for each in reasons)
    return (
        f"The claim can never pass: even if all answers are right, {parts} with t = {t}; use more "
        "examples or fewer prompts."
    )


_SENTENCES: dict[str, Callable[..., str]] = {
    "choices.chance": _choices_chance,
    "choices.more": _choices_more,
    "choices.fewer": _choices_fewer,
    "choices.fewer_given": _choices_fewer_given,
    "complementary_prompts": _complementary_prompts,
    "colliding_ids": _colliding_ids,
    "repeated_examples": _repeated_examples,
    "clustered_answers.choices": _clustered_choices,
    "clustered_answers.text": _clustered_text,
    "shared_text": _shared_text,
    "other_examples.other": _other_examples,
    "other_examples.fewer": _fewer_examples,
    "other_examples.more": _more_examples,
    "cut_text.input": _cut_inputs,
    "cut_text.context": _cut_contexts,
    "constant_scores": _constant_scores,
    "tied_scores.no_numbers": _no_numbers,
    "tied_scores.equal": _tied_scores,
    "never_right": _never_right,
    "unsteady_prompts": _unsteady_prompts,
    "identical_models.scores": _identical_scores,
    "identical_models.labels": _identical_labels,
    "identical_models.right": _identical_right,
    "near_identical_prompts": _near_identical_prompts,
    "label_mass": _label_mass,
    "constant_answers": _constant_answers,
    "majority.accuracy": _majority,
    "majority.score": _majority_score,
    "max_t": _max_t,
    "heuristic": _heuristic,
    "near_heuristic": _near_heuristic,
    "choices_only": _choices_only,
    "near_choices_only": _near_choices_only,
    "repeated_prompts": _repeated_prompts,
    "unpassable": _unpassable,
}
"""By kind, and by the way in which it is found where there are several."""

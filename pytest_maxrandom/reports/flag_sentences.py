"""The sentences of red flags: what was found, and what to look at.

Each kind has a template, or one for each way in which it is found (`case`), of its parameters.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import (
    Unmet,
    accuracy,
    chances,
    count,
    equals,
    level,
    p_value,
    percent,
    span,
)
from pytest_maxrandom.reports.remarks import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_maxrandom.record import HeuristicName, RedFlag, RedFlagKind
    from pytest_maxrandom.record.claim import Measure

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
_LOOK = "check how many choices there are."
_ONE_MODEL = "check whether the two are the same model."
_CLUSTERS = "`columns: {{cluster: ...}}`."
_SHARED = (
    "The inputs of {n:,} examples hold {texts:,} different texts: those of {alike[0]!r} and "
    "{alike[1]!r}, for instance, share {characters} characters in a row or "
    "more{beyond_clusters:, which the stated clusters do not explain/}"
)
_SCORED = "{who} {told:was/were} scored on %s examples than {others}"
_CUT_SHORT = "({prompt!r}{is_best:, the best,/} on {size:,}, not {usual:,})"
_ANSWERS = "{told:,} of {answers:,} answers ({part:percent}){of_best}"
_SAME = "{same:,} of {answers:,} answers ({part:percent}) to the same prompts"
_BY_CHANCE = f"those of {{other}} (by chance it would be {{by_chance:percent}}): {_ONE_MODEL}"
_RULE = "Always choosing {heuristic:heuristic} has {measure:measure} of {score:accuracy}"
_BLANK = "With blank inputs the best prompt has {measure:measure} of {score:accuracy}"
_ALLOWED = "above that, but the lead may be chance (sign-flip p {sign_flip}, above {level:level})."

_SENTENCES = {
    "choices.chance": "In the results, whose examples have {choices:span} choices, chance is "
    f"{{chance:mean}}, but the stated chance is {{stated:chance}}: {_LOOK}",
    "choices.more": "In {told:,} of {examples:,} examples the answers and the right answer name "
    f"up to {{labels}} different choices, but {{said}}: {_LOOK}",
    "choices.fewer": "Only {labels} different answers are ever given or right in {examples:,} "
    f"examples, but {{said}}: {_LOOK}",
    "choices.fewer_given": "Only {labels} different answers are ever given, and in each of "
    "{examples:,} examples that got every one of the right ones, one of them is right, but "
    f"{{said}}: {_LOOK}",
    "complementary_prompts": "Prompts {prompts[0]!r} and {prompts[1]!r} are right on exactly "
    "complementary examples ({accuracies[0]:accuracy} and {accuracies[1]:accuracy}), as the two "
    f"constant answers to questions with two choices are, but chance is {{chance}}: {_LOOK}",
    "colliding_ids": "The results hold {ids:,} example ids, but the stated n is {stated:,}: check "
    "whether examples share ids, so that one replaced another, or fewer were "
    "scored.",
    "repeated_examples": "There are {n:,} examples, but only {different:,} different "
    "{different:one/ones} by text and choices: a model gives copies the same "
    "answer, and a guesser does not, so p-values are too small; check which "
    "field is the input, or remove the copies.",
    "clustered_answers.choices": "{examples:,} of {n:,} examples offer the same choices as a few "
    "others, and examples with the same choices have the same right answer, such as "
    "{alike[0]!r} and {alike[1]!r}: for a model that prefers certain choices the {n:,} are worth "
    f"{{worth:.0f}}, so p-values are too small; name them as clusters with {_CLUSTERS}",
    "clustered_answers.text": f"{_SHARED}, and right answers follow the text: for a model that "
    "gives each text one answer they are worth {worth:.0f} examples, so p-values are too small; "
    f"group them with {_CLUSTERS}",
    "shared_text": f"{_SHARED}. Right answers do not follow the text, but for a model that knows "
    "only some texts the result is as uncertain as on {worth:.0f} examples; group them with "
    f"{_CLUSTERS}",
    "other_examples.other": f"{_SCORED % 'other'}: "
    "{prompt!r}{is_best:, the best,/} shares {shared:,} of its {size:,}.",
    "other_examples.fewer": f"{_SCORED % 'fewer'} {_CUT_SHORT}, which their demonstrations do not "
    "explain: check whether runs were interrupted.",
    "other_examples.more": f"{_SCORED % 'more'} {_CUT_SHORT}, which the others' demonstrations do "
    "not explain: check whether runs were interrupted.",
    "cut_text.input": "The inputs of {examples:,} examples are the longest with exactly "
    "{lengths:span} {unit} each, and most of them end in the middle of a "
    "sentence: check whether their text was cut.",
    "cut_text.context": "The texts of {texts:,} of {pairs:,} (prompt, example) pairs are exactly "
    "as long as the model's context: check whether they were cut to fit.",
    "constant_scores": "{who} {told:gives/give} different examples the same scores (as few as "
    "{different:,} different ones for {examples:,} examples): check whether the "
    "text was cut before the question.",
    "tied_scores.no_numbers": f"{_ANSWERS} have scores that are not numbers (NaN): check the run "
    "for overflow.",
    "tied_scores.equal": f"In {_ANSWERS} two choices share the highest score exactly: check "
    "whether the scored text distinguishes the choices, and how scores are "
    "rounded.",
    "never_right": "{who} {told:is/are} right on no example; {guesser} with probability "
    "{log_p:log_p} at most: check whether texts were cut, answers were misread, or "
    "right and wrong were swapped.",
    "unread_answers": f"In {_ANSWERS} no choice could be read, and they count as wrong: "
    "{unreadable:,} name none, or several, {cut:,} were cut, {refused:,} refused: check what "
    "the model writes (--maxrandom-predictions), and check max_tokens, stop and pattern of "
    "`generation`.",
    "unsteady_prompts": "{repeating:,} of {prompts:,} prompts {repeating:repeats/repeat} the ids "
    "of an earlier one, but not its results: ids collide, or results cannot be reproduced; t may "
    "be larger.",
    "identical_models.scores": f"{_SAME} have exactly the scores of {{other}}: {_ONE_MODEL}",
    "identical_models.labels": f"{_SAME} are the same as {_BY_CHANCE}",
    "identical_models.right": f"{_SAME} are right or wrong together with {_BY_CHANCE}",
    "near_identical_prompts": "{who} {told:is/are} right on the same examples as the best one, or "
    "on exactly the others ({differing:percent} of the answers differ), "
    "and its accuracy is {reached:accuracy}: one label for every example "
    "looks like that, and only labels could distinguish it from "
    "knowledge; give answers and right answers.",
    "label_mass": "{who} {told:gives/give} all labels together a probability below {below:percent} "
    "(the least is {least:percent}, mean over the examples): the model would say "
    "something else; check the text before the answer.",
    "constant_answers": "{who} {told:gives/give} nearly every example the same answer, though "
    "others are also right ({which_prompt} says {which_label} to "
    "{share:percent}): check whether the model reads the questions.",
    "majority.accuracy": "{always} is right on {correct} of {n} examples; the best prompt is not "
    "above that.",
    "majority.score": "{always} has a {score} of {value:accuracy}; the best prompt's is not above "
    "that.",
    "max_t": "p_max {p_max:p} is below {level:level}, but the permutation p is {shuffled}: with "
    "the right answers shuffled, the same answers are as good; check which labels the "
    "model prefers.",
    "heuristic": f"{_RULE}; the best prompt's is not above that.",
    "near_heuristic": f"{_RULE}; the best prompt's is {_ALLOWED}",
    "choices_only": f"{_BLANK}, and with the questions it is no better: check what else gives the "
    "right choices away.",
    "near_choices_only": f"{_BLANK}; with the questions it is {_ALLOWED}",
    "repeated_prompts": "Only {distinct:,} of {asked:,} prompts {distinct:is/are} distinct; "
    "{counted}: check how prompts are drawn, and from how many examples.",
    "unpassable": "The claim can never pass: even if all answers are right, {reasons:unmet} with "
    "t = {t}; use more examples or fewer prompts.",
}
"""By kind, and by the way in which it is found where there are several."""


def sentence(flag: RedFlag) -> str:
    """Word a red flag anew; one without parameters, or with unknown ones, has the text it has."""
    case = flag.parameters.get("case")
    template = _SENTENCES.get(flag.kind if case is None else f"{flag.kind}.{case}")
    if template is None or not flag.parameters:
        return flag.text
    return _WRITER.fill(template, _Parameters(flag.parameters), flag.text)


_BRIEF: dict[RedFlagKind, str] = {
    "choices": "the number of choices looks wrong",
    "complementary_prompts": "two prompts are right on exactly complementary examples",
    "colliding_ids": "example ids collide",
    "repeated_examples": "examples are repeated",
    "clustered_answers": "examples come in clusters",
    "shared_text": "examples share text",
    "other_examples": "prompts were scored on different examples",
    "cut_text": "texts look cut",
    "constant_scores": "scores do not depend on the example",
    "tied_scores": "scores tie",
    "never_right": "right on no example",
    "unread_answers": "answers could not be read",
    "unsteady_prompts": "prompts do not repeat their results",
    "identical_models": "two models give the same answers",
    "near_identical_prompts": "prompts look like one constant answer",
    "label_mass": "the labels have hardly any probability",
    "constant_answers": "nearly every example gets the same answer",
    "majority": "no better than the same answer to all",
    "max_t": "with the right answers shuffled the same prompts do as well",
    "heuristic": "no better than a rule that needs no knowledge",
    "choices_only": "no better with the question than without",
    "near_heuristic": "hardly better than a rule that needs no knowledge",
    "near_choices_only": "hardly better with the question than without",
    "repeated_prompts": "prompts are repeated",
    "unpassable": "no result can pass",
}
"""Each kind in a few words."""
_BRIEF_OF: dict[RedFlagKind, str] = {
    "constant_answers": "{says}",
    "majority": "no better than {always_brief}",
    "heuristic": "no better than {heuristic:heuristic}",
    "near_heuristic": "hardly better than {heuristic:heuristic}",
}
"""The same of what was found."""


def brief(flag: RedFlag) -> str:
    """Say a red flag in a few words; of an unknown kind, its kind."""
    known = _BRIEF.get(flag.kind, flag.kind.replace("_", " "))
    template = _BRIEF_OF.get(flag.kind) if flag.parameters else None
    return _WRITER.fill(template, _Parameters(flag.parameters), known) if template else known


def _says(of: Mapping[str, Any]) -> str:
    label = "one choice" if of["label"] is None else f'"{of["label"]}"'
    return f"always says {label}" if of["share"] == 1 else f"says {label} to {percent(of['share'])}"


def _chance(stated: str | Mapping[str, int]) -> str:
    if isinstance(stated, str):
        return stated
    return chances({Fraction(chance): many for chance, many in stated.items()})


_WRITER = Writer(
    accuracy=accuracy,
    chance=_chance,
    heuristic=lambda name: HEURISTICS[name],
    level=level,
    log_p=lambda log_p: p_value(math.exp(log_p), log_p),
    mean=lambda chance: chance if isinstance(chance, str) else f"{accuracy(chance)} on average",
    measure=lambda name: MEASURES[name],
    p=p_value,
    percent=percent,
    span=span,
    unmet=lambda reasons: " and ".join(str(Unmet(**each)) for each in reasons),
)
_PARTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "always": lambda of: (
        "Always choosing the same place"
        if of["label"] is None
        else f"Always saying {of['label']!r}"
    ),
    "always_brief": lambda of: (
        "always the same place" if of["label"] is None else f'always "{of["label"]}"'
    ),
    "counted": lambda of: (
        f"the claim counts t = {count(of['t'])}"
        if of["t"] > of["distinct"]
        else f"t = {count(of['t'])} counts those"
    ),
    "guesser": lambda of: (
        "a guesser is"
        if of["prompts"] == 1
        else f"of {count(of['prompts'])} guessers {count(of['guessers'])} or more are"
    ),
    "of_best": lambda of: "" if of["best"] is None else f" of prompt {of['best']!r}, the best,",
    "others": lambda of: (
        "most"
        if 2 * of["agreeing"] > of["prompts"]
        else f"the largest group that agrees ({count(of['agreeing'])} "
        f"prompt{'s' if of['agreeing'] > 1 else ''})"
    ),
    "part": lambda of: of["told" if "told" in of else "same"] / of["answers"],
    "said": lambda of: (
        f"the stated chance is {_chance(of.get('stated') or '')}"
        if of.get("choices") is None
        else f"the results say {span(of['choices'])} choices"
    ),
    "shuffled": lambda of: p_value(of["permutation_p"], level=of["level"]),
    "says": _says,
    "sign_flip": lambda of: equals(p_value(of["p"], level=of["level"])),
    "which_label": lambda of: f"choice {of['place']}" if of["label"] is None else repr(of["label"]),
    "which_prompt": lambda of: "the best prompt" if of["prompt"] is None else repr(of["prompt"]),
    "who": lambda of: (
        "The only prompt"
        if of["prompts"] == 1
        else f"{count(of['told'])} of {count(of['prompts'])} prompts"
    ),
}
"""What follows from several parameters, or from one that may be missing."""


class _Parameters(dict[str, Any]):
    """Those of a flag, and what follows from them."""

    def __missing__(self, name: str) -> Any:
        return _PARTS[name](self)

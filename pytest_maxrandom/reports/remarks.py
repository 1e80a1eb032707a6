"""Remarks in words: what a reader must know about a record besides its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracies, accuracy, equals, level, p_value, span
from pytest_maxrandom.reports import samples
from pytest_maxrandom.reports.searches import rule, sources
from pytest_maxrandom.reports.sentences import Writer
from pytest_maxrandom.reports.text import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.record import Remark

_DRAWS_ANEW = (
    "The first replicate is the claim itself; each of the others draws again, with seeds made from "
    "{seed} and its number: "
)
_NO_BOOST = (
    "No boost: {extra} is not shown to be better than {base}, nor {test} than {extra}, so the "
    "check cannot tell whether {test} was tuned on the text; use "
)
_NO_EFFECT = (
    "{extra} is not shown to be better than {base}, nor {test} than {extra}, and without a boost "
    "that is no sign of anything; use "
)
_MORE = "more examples or replicates"
_MORE_TRAINING = f"more texts, more `epochs`, a larger `learning_rate`, or {_MORE}"
_OR_ALLOW = ", or write `allow_inconclusive: true`"
_OTHER_N = "n is {sizes:span}, not {published:,}"
_NOT_GIVEN = (
    "the results do not say which answers were given, so knowledge cannot be distinguished from a "
    "preferred label: record the predictions"
)
_LIST_CHOICES = (
    "list the choices of each example (column `choices` of a table, array `choice_texts` of an "
    "archive)"
)
_ONE_OF_EACH = (
    ", or keep one example of each cluster, declare none, and claim `p_max` by name (`assert: "
    "{{p_max: 0.05}}`), which takes examples for independent"
)
_STORE = "the results store {file} "

SENTENCES: dict[str, str] = {
    # The suite and its models.
    "arm": "The arm {arm!r} changes {changed:clauses}.",
    "arm_of_suite": "The arm {arm!r} changes nothing: it is the suite itself.",
    "adapter": "{model} runs with the adapter {adapter}.",
    "loss_did_not_fall": "The loss did not fall in training: look at its learning rate, its epochs "
    "and its texts.",
    "no_boost": f"{_NO_BOOST}{_MORE}.",
    "no_boost_of_training": f"{_NO_BOOST}{_MORE_TRAINING}.",
    "no_effect": _NO_EFFECT + _MORE + _OR_ALLOW,
    "no_effect_of_training": _NO_EFFECT + _MORE_TRAINING + _OR_ALLOW,
    "unverified": "The suite loads {model} in a way whose numbers were never verified "
    "(`unverified: true`): they rest on the library that reads its files.",
    # Tasks and prompts.
    "graded_scores": "Graded scores in {graded} of {examples} examples: the choices with the "
    "highest score count as right.",
    "contradictory_answers": "{examples:,} examples have the question and the choices of another "
    "example, but a different right answer (first: {first:names}): no answer can be right in all "
    "of them, so correct or remove the wrong ones.",
    "fewer_examples": "`validation: max_examples` asks for {asked:,} examples, but the task has "
    "{examples:,}: all of them are used.",
    "small_validation_set": "The test set takes {test:,} examples and leaves {left:,}: claims are "
    "about these.",
    "empty_inputs": "The input of {empty:,} of {examples:,} examples is empty (first: "
    "{first:names}).",
    "lm_eval": "Texts, choices and right answers are those of lm-evaluation-harness's task {task}. "
    "What it calls `acc` is `scoring: sum_logprob` here, and its `acc_norm` is `char_logprob`. "
    "Here demonstrations are drawn once for each prompt; lm-evaluation-harness draws them anew for "
    "each document.",
    "lm_eval_generated": "Texts and right answers are those of lm-evaluation-harness's task "
    "{task}, whose answers are generated; its filters and stop texts are not used, and `scoring: "
    "generate` reads the answers. Here demonstrations are drawn once for each prompt; "
    "lm-evaluation-harness draws them anew for each document.",
    "lm_eval_open": "Texts and references are those of lm-evaluation-harness's task {task}, and so "
    "are its filter, its stop texts and its exact match, unless the suite gives others. Here "
    "demonstrations are drawn once for each prompt; lm-evaluation-harness draws them anew for each "
    "document.",
    "unanswerable": "Documents left out because no guess at them can be both right and wrong: "
    "{documents} ({reasons:unanswerable}).",
    "left_out_for_test": "Examples left out because they are also in the test set: {examples}.",
    "left_out_for_training": "Examples left out because the test set, on which nothing is trained, "
    "has their text in this or another spelling: {examples}.",
    "left_out_for_clusters": "Examples left out because they, or others of their cluster, are also "
    "in the test set: {examples}.",
    "repeats_not_shown": "Examples never used as demonstrations, because they repeat a validation "
    "example or another example of the pool: {examples}.",
    "validation_not_shown": "Examples of the pool never used as demonstrations, because they "
    "repeat a validation example: {examples}.",
    "copies_not_shown": "Examples of the pool never used as demonstrations, because they repeat "
    "another example of it: {examples}.",
    "tested_not_shown": "Examples of the pool never used as demonstrations, because they, or "
    "others of their cluster, are also in the test set: {examples}.",
    "clusters_not_shown": "Examples never used as demonstrations, because they belong to the "
    "cluster of a validation example: {examples}.",
    "clusters_shown": "Demonstrations may belong to the cluster of the example that follows them, "
    "because they come from the validation set: {sharing} of its {examples} examples share their "
    "cluster with another one.",
    "too_few_prompts": "{asked} prompts were asked for, but {offer:offer} give only {prompts}: all "
    "of them are used.",
    "too_few_prompts_of_pool": "{asked} prompts were asked for, but {offer:offer} give only "
    "{prompts}: all of them are used; a larger pool, instructions or formats give more.",
    "whole_draws": "{asked} prompts were asked for; {prompts} are used, so that each draw of "
    "demonstrations is written in all {variants} variants.",
    # What t counts.
    "tries_of_another_claim": "{prompts:,} of the prompts that t counts belong to {claim} in this "
    "run, whose validation set shares {examples} examples with this one.",
    "tries_of_another_set": "{prompts:,} of the prompts that t counts were tried on another "
    "validation set (an earlier form of this one, or a part of it), which shares {common:,} of "
    "{examples:,} examples with this one.",
    "searched": "On examples of this validation set {searches:of_searches}; {rule:of_rule}.",
    "search_is_open": "A search by {by} is open on these examples: with each new result of this "
    "suite its best prompt is judged as the best of {times:,} times as many prompts. Let the "
    "search end first, or test other examples.",
    "best_of_more_than_at_hand": "Of some models more prompts were tried on these examples than "
    "are compared here: each stands as the best of {tried:span}.",
    "compared_after_searches": "On examples of this validation set {searches:of_searches}; the "
    "prompts that are compared may come from there, which no p-value of a difference counts.",
    "prompts_not_judged": "{prompts:,} of the {of:,} prompts that the search tried "
    "{prompts:is/are} not judged, because the results store does not know {prompts:it/them}: try "
    "{prompts:it/them} again, which costs nothing, and ask for the verdict again.",
    "scores_withheld": "While the search was open, scores that it was not told lay in a folder "
    "that the user alone can open. A program that runs as this user can open it too, or run the "
    "suite itself: if the one that searched did so, this verdict does not hold.",
    "budget_overrun": "The budget of {budget:,} prompts is overrun: t counts the {t:,} that were "
    "evaluated.",
    "budget_raised": "The budget of {budget:,} prompts was not declared in advance: an earlier "
    "look at this claim counted t = {t:,}, and the budget has been raised since.",
    "incumbent_best_here": "The incumbent's prompt is one of the {prompts:,} tried on these "
    "examples, or answers as one of them does, and none of them had a higher score when it was "
    "named. Such luck makes the claim harder, never easier. Examples that no prompt has seen would "
    "be fairer.",
    "incumbent_chosen_here": "The incumbent's prompt is one of the {prompts:,} tried on these "
    "examples, or answers as one of them does. Luck by which it was the best of them makes the "
    "claim harder, never easier. But it may have been chosen for a low score: when it was named it "
    "had rank {rank:,} among them, so p is also times {rank:,}. Examples that no prompt has seen "
    "would be fairer.",
    "incumbent_named_in_turn": "The incumbent is number {place:,} of those, each a prompt to a "
    "model, that were named on these examples and that nobody had tried here before: whoever names "
    "several in turn may keep the one that is beaten most easily. So p is also times {factor:,}, "
    "which is k (k + 1) for the k-th; together these p-values are at most a level with at most 1.5 "
    "times that probability where nothing is better.",
    "too_few_beside": "No answers could pass here: the least {part} that the best of {t:,} "
    "prompt{t:/s} can have on {n:,} example{n:/s} is {p:least}, above its level {level:level}. "
    "More examples or fewer prompts are needed.",
    # What could be tested.
    "no_blank_control": "There is no control with blank inputs, because all examples have the same "
    "input: the choices are the question.",
    "test_not_opened": "The test set was not opened, because its opening could not be written to "
    "the ledger.",
    "counts_only": "There is no permutation p, because only counts were given. So knowledge cannot "
    "be distinguished from a preferred label.",
    "only_right_and_wrong": "only right and wrong are known, so knowledge cannot be distinguished "
    "from a preferred label: record the predictions, or claim `p_max` by name (`assert: {{p_max: "
    "0.05}}`)",
    "only_right_and_wrong_of_clusters": "only right and wrong are known, so knowledge cannot be "
    "distinguished from a preferred label: record the predictions" + _ONE_OF_EACH,
    "answers_not_given_of_clusters": _NOT_GIVEN + _ONE_OF_EACH,
    "not_permutable_of_clusters": "knowledge cannot be distinguished from a preferred label, "
    "because {why}" + _ONE_OF_EACH,
    "answers_not_given": _NOT_GIVEN + ", or claim `p_max` by name (`assert: {{p_max: 0.05}}`)",
    "choices_unlisted": _NOT_GIVEN + f", {_LIST_CHOICES}, or "
    "claim `p_max` by name (`assert: {{p_max: 0.05}}`)",
    "only_scores": "no guesser is compared with scores: say what the best prompt is above "
    "(`beats=0.62`), or give the scores of the `incumbent` or of a `control`",
    "no_guessers": "no guesser is compared with scores between 0 and 1; claim `beats` with a "
    "number such as 0.62, `control_p: 0.05` with a `control`, or `better_than: incumbent`",
    "only_counts": "only counts are known, so knowledge cannot be distinguished from a preferred "
    "label: let a suite judge the predictions, or claim p_max by name (`p_max=0.05`)",
    "not_permutable": "knowledge cannot be distinguished from a preferred label, because {why}; or "
    "claim `p_max` by name (`assert: {{p_max: 0.05}}`)",
    "one_right_answer": "knowledge cannot be distinguished from a preferred label, because {why}: "
    "add examples with other right answers",
    "only_places": "knowledge cannot be distinguished from a preferred text, such as 'none of "
    "these', because answers are recorded by letters or numbers and the results do not say which "
    f"texts these stand for: {_LIST_CHOICES}, or claim by name what letters can show (`assert: "
    "{{permutation_p: 0.05, beats: max_random}}`)",
    "only_letters": "knowledge cannot be distinguished from a preferred text, such as 'none of "
    "these', because the choices are letters and the questions do not list the texts that these "
    "stand for (`A. text`, one a line): give the texts as choices (`prompts: {{formats: {{labels: "
    "letter}}}}` writes the letters), or claim by name what letters can show (`assert: "
    "{{permutation_p: 0.05, beats: max_random}}`)",
    "places_exchanged": "Right answers were shuffled by letters or numbers, because nothing says "
    "which texts these stand for. A preferred text, such as 'none of these', is not seen.",
    "no_permutations": "There is no permutation p, because {why}. So knowledge cannot be "
    "distinguished from a preferred label.",
    "fixed_answers": "Shuffles leave {fixed:,} of {examples:,} right answers where they are, "
    "because there is no other example with the same choices.",
    "fixed_references": "Shuffles leave {fixed:,} of {examples:,} references where they are, "
    "because questions hold them, or there is no other of the kind (or no other cluster like "
    "theirs): to be right there shows nothing.",
    "answers_follow": "{within:,} of {examples:,} questions hold or offer their own answers. If "
    "all references are shuffled within their kinds, whatever the questions hold, p {p:p}: the "
    "answers follow the question. That is no knowledge, because who copies from the question does "
    "it as well.",
    "follow_the_question": "{within:,} of {examples:,} questions hold their own answers, so that "
    "nothing tells knowledge from copying: that the answers follow the question is all that can be "
    "shown; ask questions that do not hold them, or claim that it is better than an incumbent",
    "questions_not_told": "the results do not tell the questions, so that nothing tells knowledge "
    "from copying out of these: name their column (`columns: {{input: NAME}}`), or claim by name "
    "what answers alone can show (`assert: {{permutation_p: 0.05, beats: max_random}}`)",
    "open_left_out": "prompts were scored on different examples, for which there is no exact test "
    "without choices: give results on the same examples, or claim by name what is nearly exact "
    "(`assert: {{permutation_p: 0.05, beats: max_random}}`)",
    "fixed_answers_of_clusters": "Shuffles leave {fixed:,} of {examples:,} right answers where "
    "they are, because no other cluster has as many examples; clusters of equal size are needed.",
    "clusters_exchanged": "Clusters differ in size, so {clusters:,} of them take each other's "
    "right answers, repeated or cut to their own size, and {fixed:,} of {examples:,} right answers "
    "stay where they are; what counts are right answers beyond those that the same answers would "
    "have by label frequencies alone.",
    "counted_one_by_one": "The claim is not about the permutation p, which exchanges whole "
    "clusters: it takes {examples:,} examples for independent, but these are in {clusters:,} "
    "cluster{clusters:/s}, and guessers who answer a cluster alike pass more often than the level "
    "says.",
    "orders_exchanged": "{compared:,} of {examples:,} examples compare {things:,} things that "
    "recur, so the permutation p is that of other orders of the things: who has an order of its "
    "own, and knows nothing, does as well.",
    "copies_untold": "{examples:,} of {n:,} examples are answered like others, such as "
    "{alike[0]!r} and {alike[1]!r}, more than independent examples would be, and if whole groups "
    "of them exchange their right answers, p is {p:p}, above {level:level}: name what belongs "
    "together (`columns: {{cluster: ...}}`), ask more prompts, or let the plugin ask the model, so "
    "that texts tell copies",
    "few_clusters": "right answers can be exchanged among {clusters:,} cluster{clusters:/s} only, "
    "in {ways:,} way{ways:/s} at most, too few to conclude anything at {level:level}: collect more "
    "clusters, at least five with different right answers, or declare the clusters that are "
    "independent, if these are smaller",
    "constants": "There is no permutation p, because {why}. So each guess is taken to be as good "
    "as the best constant answer for its set of choices, by text or by place, where that is above "
    "the chance: right with {rates:accuracies}.",
    "by_class": "Always the same answer is right on {rate:accuracy}, which the best prompt does "
    "not exceed, but it knows each label better than that: the best balanced accuracy is "
    "{score:accuracy} (a constant answer has {constant:accuracy}), and its permutation p {p:p}. "
    "Claim it with `metric: balanced_accuracy`, and confirm it on examples that are new, such as a "
    "test set, because the metric was chosen after these answers were seen.",
    "tries_without_answers": "t counts {prompts:,} more prompt{prompts:/s} than this run has "
    "answers for; each adds the best prompt's own permutation p.",
    "unread_answers": "In {answers:,} answers nothing could be read; they count as wrong, "
    "{best:,} of them those of the best prompt.",
    "choices_not_told": "Right answers were shuffled among examples for which prompts give each "
    "other's right answers, because the results do not say which choices an example has; a table "
    "can list them in the column choices.",
    "not_decided_early": "All answers were computed, because nothing was decided early: "
    "{why:undecided}.",
    "labels_not_tested": "There is no check for preferred labels or red flags: the first prompt "
    "that reached the critical count decided the sweep.",
    "red_flags_not_looked_for": "There is no check for red flags or preferred labels: the sweep "
    "was decided before all answers were computed.",
    # Results that are recorded.
    "published_numbers": "n, t and chance are those of the publication; p-values are based on the "
    "best prompt's right answers among the {examples:,} examples that it was scored on.",
    "other_n": _OTHER_N,
    "other_n_of_fewer": _OTHER_N + ": fewer examples were scored",
    "other_n_of_ids": _OTHER_N
    + ": the results hold {ids:,} example ids, so ids collide or fewer were scored",
    "other_t": "t is {t:,}, not {published:,}",
    "other_t_of_distinct": "t is {t:,}, not {published:,}: that many of {prompts:,} prompts are "
    "distinct",
    "other_chance": "chance is {chance}, not {published}",
    "counted_otherwise": "According to the results, n is {sizes:span} and t is {t:,}.",
    "nothing_counted": "n, t and the best prompt's right answers are as published: nothing was "
    "counted.",
    "t_stated": "t = {t:,} is stated; the results have {prompts:,} distinct prompts.",
    "t_of_results": "t was counted in these results only: the prompts of recorded results enter no "
    "ledger, and those that were tried elsewhere do not count.",
    "sizes_differ": "Prompts were scored on {sizes:span} examples. The best prompt is the one with "
    "the highest accuracy, n is its number of examples, and each guesser gets the examples of its "
    "prompt.",
    "best_prompt": "The best prompt is {prompt!r} in the results.",
    "first_best_prompt": "The best prompt is {prompt!r} in the results, the first of {tied:,} that "
    "score the same.",
    "ragged": "Prompts were scored on {least} to {most} examples each, as the suite allows with "
    "ragged: true.",
    "respelled": "{answers:,} answers are a right answer but for case or spaces around them, and "
    "count as it.",
    "filters": "{task} was judged through the filters {filters:names}; {used} is used.",
    "demonstrations_vary": "lm-eval draws demonstrations anew for every document, so a run is one "
    "classifier, not one prompt.",
    "documents_not_told": "The log does not say how many documents were evaluated; only the "
    "accuracy could show that a run was interrupted.",
    "documents_limited": "{evaluated} of the {available} documents of {task} were evaluated (a "
    "limit).",
    "compared_otherwise": "The log calls {differ} of {answers} answers right or wrong where "
    "comparing them with their targets says otherwise, so that only right and wrong counts.",
    "metric_as_logged": "'{metric}' was taken from the log unchanged.",
    "right_not_told": "The log says which answers are right, but not which choices are.",
    "runs_repeat": "{repeats} of the {runs} runs {repeats:repeats/repeat} the prompts of an "
    "earlier one and {repeats:does/do} not count again.",
    "runs_differ": "{repeats} of the {runs} runs {repeats:repeats/repeat} the prompts of an "
    "earlier one and {repeats:does/do} not count again, although up to {differ} of the {answers} "
    "answers differ.",
    "samples": "{sampled:of_samples}.",
    "graded_samples": "{sampled:of_grades}.",
    "shots_not_told": "The log does not give the number of demonstrations; it is shown as 0.",
    "samples_limited": "{evaluated} of the {available} samples were evaluated (a limit).",
    "all_must_be_named": "Several choices are right in some samples, and all must be named.",
    "written_answers": "The model wrote its answers, and an answer that could not be read is "
    "wrong: the chance of a guess is an upper bound.",
    # Predictions files.
    "predictions_are_recorded": "The predictions file has none of these answers: they are in the "
    "recorded results.",
    "predictions_are_the_claims": "The predictions file has only the claim's own answers.",
    "predictions_are_the_first": "The predictions file has only the claim's own answers, not those "
    "of the other replicates.",
    # Replicates.
    "replicates_draw": _DRAWS_ANEW + "validation examples and {shots:drawn}.",
    "replicates_draw_prompts": _DRAWS_ANEW
    + "{shots:drawn} only: the validation examples are the same in all, because the task has no "
    "more than the suite asks for.",
    "replicates_draw_examples": _DRAWS_ANEW
    + "validation examples only: the prompts are the same in all.",
    "replicates_train": "Each replicate trains a model of its own, on texts that it draws itself.",
    "replicates_are_no_tries": "All prompts of all replicates are in the ledger. A replicate's "
    "claim does not count the others' prompts as tries, because nothing is chosen between "
    "replicates; without the suite's key `replicates` they would count.",
    "budget_of_each": "Each replicate has a budget of {budget:,} prompts of its own.",
    # Arms.
    "signs_flipped": "Signs were flipped {units:of_each} (each with its mean difference); the "
    "p-values are the largest of these, here those of the {largest}, and the interval covers all.",
    "several_differences": "{first!r} and {second!r} differ in more than one thing, so no single "
    "one explains the difference.",
    "no_difference": "Nothing differs between {first!r} and {second!r}.",
    # Labels.
    "no_base_rate": "There is no base rate: {why:clause}.",
    "no_base_rate_of_results": "There is no base rate: the results are recorded, and no model is "
    "run.",
    "several_right": "Some examples have several right answers: an answer counts for its own label "
    "only.",
    "first_right_moved": "Some examples have several right answers: the first of them is moved, "
    "and only that one counts.",
    "interaction_is_no_try": "The prompts of the {interaction} interaction are not tries of the "
    "claim, because nothing is chosen by them; the ledger does not list them.",
    "no_base_rates": "{interaction:capital} has no base rates: {why}.",
    "not_calibrated": "{interaction:capital} has no {method} calibration: {why}.",
    "held_back": "{interaction:capital}: PriDe's prior comes from held-back examples, "
    "{examples:of_choices}; prompts are compared on the other examples for which it is known: "
    "those with as many choices as a held-back example that the prompt does not show.",
    # Warnings: of packages, of the ledger, and of the results store.
    "red_flag_failed": "the red flag {flag!r} of {package} failed ({error}); it was not looked "
    "for, so report this to its authors",
    "red_flag_unusable": "{why}; this red flag was not looked for",
    "cut_off": "{file}:{line}: the last line was cut off while it was written; it is not counted, "
    "and is removed before the next line is added",
    "cut_off_beside": "{file}:{line}: the last line was cut off while another process wrote it; it "
    "is not counted, and `maxrandom ledger unite` leaves it out",
    "ledger_closed": "the ledger {file} cannot be written to ({why}); what is evaluated counts in "
    "this run only, so make it writable, and run again",
    "looks_untold": "how often these answers were compared is not counted: {why}",
    "left_behind": "{file}, committed in another suite's folder, counts {prompts:of_claims} on "
    "these examples, which this t leaves out; copy that file into {folder}",
    "begun_anew": "the questions of this claim have changed, so t begins anew: {new:,} of "
    "{examples:,} are new, and {gone:,} of {before:,} earlier ones are gone; the {prompts:,} "
    "prompt{prompts:/s} tried on those ({file}) {prompts:does/do} not count"
    "{as_they_stood:old_lines}{why:told_apart}",
    "reworded": "{questions:,} of {examples:,} questions are those of an earlier set ({file}) in "
    "other words, so what was tried there counts. If they are other questions, `maxrandom ledger "
    "apart {own} --why TEXT` writes that into the ledger, for review.",
    "node_not_used": "the node {node} of the cluster is not used for {model}: {why}",
    "store_unreadable": _STORE + "cannot be read ({why}); it is not used from now on",
    "store_closed": _STORE + "cannot be written to ({why}); results are not stored from now on",
    "store_unusable": _STORE + "cannot be used ({why}); results are not stored",
    "store_read_only": _STORE + "cannot be written to ({why}); it is only read",
    "store_damaged": _STORE
    + "is damaged ({why}); it was moved to {aside}, and a new one was created",
}
"""Each kind of remark, with fields for its values, and how each of these is written."""

_UNANSWERABLE = {
    "no_right_choice": "without a right choice",
    "all_right": "with right choices alone",
    "fewer_choices": "with fewer than two choices",
    "equal_choices": "with two choices of one text",
    "empty_choice": "with an empty choice",
}


def _offer(of: Mapping[str, int]) -> str:
    variants = f"{of['variants']} variants of instruction and format" if of["variants"] > 1 else ""
    if not of["shots"]:
        return variants or "a prompt without demonstrations and without variants can"
    drawn = f"draws of {of['shots']} from a pool of {of['pool']} examples"
    return f"{drawn} in {variants}" if variants else drawn


_OLD_LINES = (
    " (the lines there are of an older version, which knows examples only as they stood, so that "
    "any change makes another question)"
)
UNDECIDED = {
    "no_budget": "t is not declared (`prompts: {budget: N}`)",
    "metric": "the metric is not accuracy",
    "samples": "each answer has several samples",
    "learnt": "there are no choices, and what guessers reach is learnt from all answers",
    "all_answers": "the claim, or a check that goes with it, depends on all answers",
    "red_flags": "the claim is expected to fail, but red flags may fail it in another way "
    "(`assert: {red_flags: warn}` makes them warn)",
    "unpassable": "no result can pass the claim",
    "search": "a search has tried prompts on these examples",
}
"""Why all answers of a claim are computed."""

_WRITER = Writer(
    undecided=UNDECIDED.__getitem__,
    of_searches=sources,
    of_rule=rule,
    span=span,
    level=level,
    accuracy=accuracy,
    accuracies=accuracies,
    p=lambda value: equals(p_value(value)),
    least=p_value,
    offer=_offer,
    of_samples=samples.worth,
    of_grades=samples.grades,
    clauses="; ".join,
    told_apart=lambda why: (
        f"; a line of the ledger says that they ask something else: {why}" if why else ""
    ),
    old_lines=lambda old: _OLD_LINES if old else "",
    drawn=lambda shots: "demonstrations" if shots else "instructions and formats",
    capital=str.capitalize,
    clause=lambda text: text[:1].lower() + text[1:].removesuffix("."),
    names=", ".join,
    of_each=lambda units: listed([f"of the {unit}" for unit in units]),
    unanswerable=lambda counts: ", ".join(f"{counts[why]} {_UNANSWERABLE[why]}" for why in counts),
    of_choices=lambda sizes: ", ".join(f"{sizes[m]} with {m} choices" for m in sizes),
    of_claims=lambda prompts: "; ".join(
        f"{number_of(number, 'prompt')} of {claim}" for claim, number in sorted(prompts.items())
    ),
)
"""How values are written, by what stands behind the colon of a field."""


def worded(remark: Remark) -> Remark:
    """Word it anew; of a kind that is not known here, or other values, the sentence stays."""
    if remark.text and remark.kind not in SENTENCES:
        return remark
    text = _WRITER.fill(SENTENCES[remark.kind], remark.values, remark.text)
    return replace(remark, text=text)

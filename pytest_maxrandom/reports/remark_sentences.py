"""The sentences of remarks, with fields for their values, which `reports/remarks.py` fills in."""

from __future__ import annotations

_DRAWS_ANEW = (
    "The first replicate is the claim itself; each of the others draws anew, with seeds made from "
    "{seed} and its number: "
)
_OTHER_N = "n is {sizes:span}, not {published:,}"
_STORE = "the results store {file} "

SENTENCES = {
    # The suite and its models.
    "renamed_union_p": "The suite calls `union_p` by its old name, `guaranteed_p`: rename it.",
    "arm": "The arm {arm!r} changes {changed:clauses}.",
    "arm_of_suite": "The arm {arm!r} changes nothing, it is the suite as it stands.",
    "adapter": "{model} runs with the adapter {adapter}.",
    "loss_did_not_fall": (
        "The loss did not fall in training: look at its learning rate, its epochs and its texts."
    ),
    "unverified": (
        "The suite lets {model} be loaded in a way whose numbers were never verified "
        "(`unverified: true`): they rest on the library that reads its files."
    ),
    # Tasks and prompts.
    "graded_scores": (
        "Graded scores in {graded} of {examples} examples: the choices with the highest score "
        "count as right."
    ),
    "contradictory_answers": (
        "{examples:,} examples ask what another one asks with the same choices, and call another "
        "choice right: no answer can be right in both, so look which of them is."
    ),
    "fewer_examples": (
        "`validation: max_examples` asks for {asked:,}, and the task has {examples:,}: all of them "
        "are used."
    ),
    "small_validation_set": (
        "The test set takes {test:,} examples and leaves {left:,}: what is claimed is claimed of "
        "these."
    ),
    "empty_inputs": "Empty input in {empty} of {examples} examples.",
    "lm_eval": (
        "Texts, choices and right answers are those of lm-evaluation-harness's task {task}. What "
        "it calls `acc` is `scoring: sum_logprob` here, and its `acc_norm` is `char_logprob`. "
        "Demonstrations are drawn here, once for each prompt, which is another design than its "
        "own: it draws other ones for each document."
    ),
    "lm_eval_generated": (
        "Texts and right answers are those of lm-evaluation-harness's task {task}, whose answers "
        "are generated; its filters and stop texts are not used, and what is written is read by "
        "the rule of `scoring: generate`. Demonstrations are drawn here, once for each prompt, "
        "which is another design than its own: it draws other ones for each document."
    ),
    "unanswerable": (
        "Documents left out because no guess at them can be both right and wrong: {documents} "
        "({reasons:unanswerable})."
    ),
    "left_out_for_test": (
        "Examples left out because they stand in the test set as well: {examples}."
    ),
    "left_out_for_clusters": (
        "Examples left out because they, or others of their cluster, stand in the test set as "
        "well: {examples}."
    ),
    "repeats_not_shown": (
        "Examples never used as demonstrations, because they repeat a validation example or "
        "another example of the pool: {examples}."
    ),
    "validation_not_shown": (
        "Examples of the pool never used as demonstrations, because they repeat a validation "
        "example: {examples}."
    ),
    "copies_not_shown": (
        "Examples of the pool never used as demonstrations, because they repeat another one of it: "
        "{examples}."
    ),
    "tested_not_shown": (
        "Examples of the pool never used as demonstrations, because they, or others of their "
        "cluster, stand in the test set as well: {examples}."
    ),
    "clusters_not_shown": (
        "Examples never used as demonstrations, because they belong to the cluster of a "
        "validation example: {examples}."
    ),
    "clusters_shown": (
        "Demonstrations may belong to the cluster of an example that they are shown before, "
        "because they come from the validation set: {sharing} of its {examples} examples share "
        "their cluster with another one."
    ),
    "too_few_prompts": (
        "{asked} prompts were asked for, but {offer:offer} give only {prompts}: all of them are "
        "used."
    ),
    "too_few_prompts_of_pool": (
        "{asked} prompts were asked for, but {offer:offer} give only {prompts}: all of them are "
        "used; a larger pool, instructions or formats give more."
    ),
    "whole_draws": (
        "{asked} prompts were asked for; {prompts} are used, so that each draw of demonstrations "
        "is written in all {variants} variants."
    ),
    # What t counts.
    "tries_of_another_claim": (
        "{prompts:,} of the prompts that t counts are those of {claim} in this run, whose "
        "validation set shares {examples} examples with this one."
    ),
    "tries_of_another_set": (
        "{prompts:,} of the prompts that t counts met another validation set, an earlier form "
        "of this one or a part of it, which shares {common:,} of {examples:,} examples "
        "with this one."
    ),
    "searched": "On examples of this validation set {searches:of_searches}; {rule:of_rule}.",
    "compared_after_searches": (
        "On examples of this validation set {searches:of_searches}; the prompts that are compared "
        "may come from there, which no p-value of a difference counts."
    ),
    "prompts_not_judged": (
        "{prompts:,} of the {of:,} prompts that the search tried {prompts:is/are} not judged, "
        "because the results store does not know {prompts:it/them}: try {prompts:it/them} again, "
        "which costs nothing, and ask for the verdict again."
    ),
    "budget_overrun": (
        "The budget of {budget:,} prompts is overrun: t counts the {t:,} that were evaluated."
    ),
    "budget_raised": (
        "The budget of {budget:,} prompts was not declared in advance: an earlier look at "
        "this claim counted t = {t:,}, and the budget is more since then."
    ),
    # What could be tested.
    "no_blank_control": (
        "There is no control with blank inputs, because all examples have the same input: the "
        "choices are the question."
    ),
    "test_not_opened": (
        "The test set was not opened, because the opening of the test set could not be written "
        "into the ledger."
    ),
    "counts_only": (
        "There is no permutation p, because only counts were given. So a preferred label cannot be "
        "told from knowledge."
    ),
    "no_permutations": (
        "There is no permutation p, because in the results {why}. So a preferred label cannot be "
        "told from knowledge."
    ),
    "fixed_answers": (
        "Of {examples:,} right answers {fixed:,} stay where they are when right answers "
        "are shuffled, because there is no other example with the same choices."
    ),
    "fixed_answers_of_clusters": (
        "Of {examples:,} right answers {fixed:,} stay where they are when right answers "
        "are shuffled, because there is no other cluster with as many examples; clusters of equal "
        "size are needed."
    ),
    "tries_without_answers": (
        "t counts {prompts:,} more prompt{prompts:/s} than this run has answers of; each adds "
        "the best prompt's own permutation p."
    ),
    "unread_answers": (
        "In {answers:,} answers no choice could be read; they count as wrong, {best:,} of them "
        "those of the best prompt."
    ),
    "choices_not_told": (
        "Right answers were shuffled among examples whose right answers are given in place of each "
        "other, because it is not told which choices an example has; a table can list them in the "
        "column choices."
    ),
    "not_decided_early": "All answers were computed, as nothing is decided early: {why:undecided}.",
    "labels_not_tested": (
        "Labels were not tested, and red flags not looked for: the sweep was decided by its first "
        "prompt that reaches the critical count. A preferred label would not be seen."
    ),
    "red_flags_not_looked_for": (
        "Red flags were not looked for, and labels not tested: the sweep was decided before all "
        "answers were computed."
    ),
    # Results that are recorded.
    "published_numbers": (
        "n, t and chance are those of the publication; p-values are of the best prompt's right "
        "answers among the {examples:,} examples that it was scored on."
    ),
    "other_n": _OTHER_N,
    "other_n_of_fewer": _OTHER_N + ": fewer examples were scored",
    "other_n_of_ids": (
        _OTHER_N + ": the results hold {ids:,} example ids, so ids collide or fewer were scored"
    ),
    "other_t": "t is {t:,}, not {published:,}",
    "other_t_of_distinct": (
        "t is {t:,}, not {published:,}: of {prompts:,} prompts so many are distinct"
    ),
    "other_chance": "chance is {chance}, not {published}",
    "counted_otherwise": "By the results n is {sizes:span} and t is {t:,}.",
    "nothing_counted": (
        "n, t and the best prompt's right answers are as published: nothing was counted."
    ),
    "t_stated": ("t = {t:,} is stated; the results are of {prompts:,} distinct prompts."),
    "t_of_results": (
        "t was counted in these results only: recorded results enter no ledger, and prompts that "
        "were tried elsewhere do not count."
    ),
    "sizes_differ": (
        "Prompts were scored on {sizes:span} examples. The best is the one with the highest "
        "accuracy, n is its number of examples, and each guesser has the examples of its prompt."
    ),
    "best_prompt": "The best prompt is {prompt!r} in the results.",
    "first_best_prompt": (
        "The best prompt is {prompt!r} in the results, the first of {tied:,} with this accuracy."
    ),
    "ragged": (
        "Prompts were scored on {least} to {most} examples each, as the suite allows with ragged: "
        "true."
    ),
    "choices_not_recorded": (
        "The file was written before choices were: answers are told by their places in the task's "
        "file, so who prefers a text cannot be told from who knows where files list it at several "
        "places; run the suite that wrote it again."
    ),
    "filters": ("{task} was judged through the filters {filters:names}; {used} is used."),
    "demonstrations_vary": (
        "lm-eval draws other demonstrations for every document, so a run is one classifier, not "
        "one prompt."
    ),
    "documents_not_told": (
        "The log does not tell how many documents were evaluated; a run cut short shows in its "
        "accuracy alone."
    ),
    "documents_limited": (
        "{evaluated} of the {available} documents of {task} were evaluated (a limit)."
    ),
    "metric_as_logged": "'{metric}' was taken from the log as it is.",
    "right_not_told": "The log does not tell which choices are right, only which answers are.",
    "runs_repeat": (
        "{repeats} of the {runs} runs {repeats:repeats/repeat} the prompts of an earlier one and "
        "{repeats:does/do} not count again."
    ),
    "runs_differ": (
        "{repeats} of the {runs} runs {repeats:repeats/repeat} the prompts of an earlier one and "
        "{repeats:does/do} not count again, although up to {differ} of the {answers} answers "
        "differ."
    ),
    "shots_not_told": ("The log does not tell the number of demonstrations; 0 is written for it."),
    "samples_limited": "{evaluated} of the {available} samples were evaluated (a limit).",
    "all_must_be_named": "Several choices are right in some samples, and all must be named.",
    "written_answers": (
        "Answers were written by the model, and one that could not be read is wrong: the chance of "
        "a guess is an upper bound."
    ),
    "epochs": (
        "Each sample was tried in {epochs} epochs, which are neither further examples nor further "
        "prompts; the first is used."
    ),
    # Predictions files.
    "predictions_are_recorded": (
        "The predictions file has none of these answers: they are in the recorded results."
    ),
    "predictions_are_the_claims": (
        "The predictions file has the claim's own answers, and none of what was asked beyond them."
    ),
    "predictions_are_the_first": (
        "The predictions file has the answers of the claim itself, and none of the others'."
    ),
    # Replicates.
    "replicates_draw": _DRAWS_ANEW + "validation examples and {shots:drawn}.",
    "replicates_draw_prompts": (
        _DRAWS_ANEW + "{shots:drawn} only: the validation examples are the same in all, because "
        "the task has no more than the suite asks for."
    ),
    "replicates_draw_examples": (
        _DRAWS_ANEW + "validation examples only: the prompts are the same in all."
    ),
    "replicates_are_no_tries": (
        "All prompts of all replicates are in the ledger. Those of the others are no tries of a "
        "replicate's claim, because nothing is chosen between replicates; without the key "
        "`replicates` of the suite they would count."
    ),
    "budget_of_each": ("The budget of {budget:,} prompts is that of each replicate by itself."),
    # Arms.
    "signs_flipped": (
        "Signs were flipped {units:of_each} (each with its mean difference); p-values are the "
        "largest ones, here of the {largest}, and the interval holds all."
    ),
    "several_differences": (
        "{first!r} and {second!r} differ in more than one thing, so it cannot be told which of "
        "them makes the difference."
    ),
    "no_difference": "Nothing differs between {first!r} and {second!r}.",
    # Labels.
    "no_base_rate": "There is no base rate: {why:clause}.",
    "no_base_rate_of_results": (
        "There is no base rate: the results are recorded, and no model is asked."
    ),
    "several_right": (
        "Some examples have several right answers: an answer counts for its own label only."
    ),
    "first_right_moved": (
        "Some examples have several right answers: the first of them is moved, and only that one "
        "counts."
    ),
    "interaction_is_no_try": (
        "The prompts of the {interaction} interaction are no tries of the claim, because nothing "
        "is chosen by them; the ledger does not list them."
    ),
    "no_base_rates": "{interaction:capital} has no base rates: {why}.",
    "not_calibrated": "{interaction:capital} has no {method} calibration: {why}.",
    "held_back": (
        "{interaction:capital}: PriDe's prior is that of held-back examples, "
        "{examples:of_choices}; prompts are compared on those of the others that it is known for: "
        "of as many choices as a held-back example that the prompt does not show."
    ),
    # Warnings: of the ledger, and of the results store.
    "cut_off": (
        "{file}:{line}: the last line was cut off while it was written; it is not counted, and is "
        "removed before the next line is added"
    ),
    "cut_off_beside": (
        "{file}:{line}: the last line was cut off while another process wrote it; it is not "
        "counted, and `maxrandom ledger unite` leaves it out"
    ),
    "ledger_closed": (
        "the ledger {file} cannot be written to ({why}); what is evaluated counts in this run "
        "only, so make it writable and run again"
    ),
    "left_behind": (
        "{file}, committed beside another suite, counts {prompts:of_claims} on these examples, "
        "which this t leaves out; copy that file into {folder}"
    ),
    "node_not_used": "the node {node} of the cluster is not used for {model}: {why}",
    "store_unreadable": _STORE + "cannot be read ({why}); it is not used from now on",
    "store_closed": _STORE + "cannot be written to ({why}); results are not stored from now on",
    "store_unusable": _STORE + "cannot be used ({why}); results are not stored",
    "store_read_only": _STORE + "cannot be written to ({why}); it is only read",
    "store_damaged": (
        _STORE + "is damaged ({why}); it was moved to {aside}, and a new one was begun"
    ),
}
"""Each kind of remark, with fields for its values."""

"""What is recorded of every claim: the rows of all reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_maxrandom.record.base import (
    Count,
    Difference,
    ItemRecord,
    RedFlag,
    Remark,
    Severity,
    Share,
)
from pytest_maxrandom.record.cost import SweepCost, TrainingRecord
from pytest_maxrandom.record.counts import PromptCount, Sampled, Searched, Tries, ValidationSet
from pytest_maxrandom.record.incumbent import BesideIncumbent
from pytest_maxrandom.record.words import PassesOn, Standing

HeuristicName = Literal[
    "most_frequent", "longest", "shortest", "first", "last", "most_shared_words",
    "commonest", "offered", "first_number", "last_number", "first_name", "last_name",
]  # fmt: skip
"""Which choice is taken: the label that is right most often; the longest or shortest text; the
first or last as shown; the text that has most words of the question. Without choices, what is
answered: the commonest reference of each kind; one of those that the question offers, by lot; the
first or last number, or name, that stands in it."""
Measure = Literal["accuracy", "balanced_accuracy", "pass"]
ShortcutControl = Literal["choices_only"]


@dataclass(slots=True)
class Shortcuts:
    """What heuristics, and the best prompt with blank inputs, reach on the best prompt's examples.

    Without choices they are the controls. A heuristic that leaves several choices has their mean.
    """

    measure: Measure
    """The measure in which they are compared; balanced accuracy if the metric is not accuracy, and
    pass if any of several samples is to be right: heuristics give as many different answers."""
    best: float
    """The best prompt's."""
    heuristic: HeuristicName
    """The best of the heuristics."""
    heuristic_score: float
    """What it reaches."""
    heuristic_p: float
    """P-value of "the best prompt is above it": one-sided sign-flip of the examples'
    differences."""
    heuristics: dict[HeuristicName, float]
    """What each of them reaches; first and last only where the prompt lists the choices."""
    choices_only: float | None = None
    """What the best prompt reaches with blank inputs; None if it was not asked that way."""
    choices_only_p: float | None = None
    """P-value of "the best prompt is above that"."""


@dataclass(slots=True)
class NewQuestions:
    """What the best prompt is worth on similar questions that were not used to select it."""

    low: Share
    """A lower bound of its accuracy there, at 95 %, which allows for its being the best of t."""
    estimate: Share | None
    """Its accuracy there, without the bias of the selection: selected on resampled examples, scored
    on those that were not drawn. None if all were drawn."""
    resamples: int
    """How often the examples were drawn for the estimate."""
    clusters: Count | None = None
    """Clusters of the best prompt's examples, which were drawn whole; None if no clusters are
    stated."""


@dataclass(slots=True)
class HeldOut:
    """The best prompt on the test set, which is opened only for a claim that passed."""

    n: Count
    correct: Count
    accuracy: Share
    low: Share
    high: Share
    """Wilson's 95 % interval of the accuracy; with clusters, of the effective n."""
    standard_baseline: Share
    p_standard: Share
    """P(one guesser has at least as many right); one prompt was tried, so t = 1."""
    openings: Count
    """(model, prompt) pairs for which this test set was ever opened, this one included."""
    seen: Count = 0
    """Its examples that are in a validation set of the ledger, so that prompts may have been
    selected on them."""
    clusters: int | None = None
    """Clusters that its examples belong to; None where none are stated."""
    effective_n: float | None = None
    """n^2 / sum of squared cluster sizes; the interval is that of this many examples."""
    majority_rate: Share | None = None
    """Accuracy of the best constant answer there; None where no two examples share an answer."""
    permutation_p: Share | None = None
    """P(the same answers have at least as many right) where right answers are shuffled."""
    p: Share | None = None
    """The larger of both, times `tests`: the p-value of `test_p`."""
    tests: Count | None = None
    """The openings, or the claims of the run that may open this test set, if these are more."""


@dataclass(slots=True)
class Recorded:
    """The source of the results of a claim that ran no model."""

    path: str
    """File or folder, as the suite names it."""
    format: str
    """As the suite names it: npz, ..."""
    stated: list[str] = field(default_factory=list)
    """Which of n, t and chance the suite stated; the others were counted in the results."""
    chances: dict[str, int] = field(default_factory=dict)
    """Number of the best prompt's examples by the chance of one guess: {"1/2": 50}."""


@dataclass(slots=True)
class Published:
    """The same claim by the n, t and chance of a publication."""

    n: int
    t: int
    standard_baseline: float
    max_random_baseline: float
    p_standard: float
    p_max: float
    verdict: Standing
    changes: list[Remark] = field(default_factory=list)
    """The differences between the results and the publication."""


@dataclass(slots=True)
class BestPrompt:
    """The first of the prompts with the highest accuracy."""

    index: int
    """Its place in the sweep, from 0."""
    digest: str
    text: str | None
    """What stands before each validation example. None, as `question` and `answers` are, where
    reports hold no texts of suites that do not say `share: texts`."""
    demonstration_ids: list[str]
    question: str | None
    """How the first validation example is appended to it: all that stands before the answer."""
    answers: list[str] | None
    """The texts that are scored as that example's answers."""
    tied_with: int
    """How many other prompts reached the same accuracy."""


@dataclass(slots=True)
class Generated:
    """How answers were generated, and how many of them could not be read."""

    max_tokens: int
    """Largest number of tokens in an answer."""
    stop: list[str] | None
    """Texts at which an answer ended; None: at the text that begins the prompt's next question."""
    temperature: float
    """0: the likeliest token each time."""
    pattern: str | None
    """Regular expression whose first group was read instead of the whole answer."""
    answers: int = 0
    """Answers of all prompts."""
    unreadable: int = 0
    """Answers that ended by themselves and held none that could be read, or several."""
    cut: int = 0
    """Answers that were cut at `max_tokens`, so that none could be read."""
    refused: int = 0
    """Answers that the model, or its server, refused."""


@dataclass(slots=True)
class DecidedEarly:
    """What is known of a claim that was decided before all of its answers were computed."""

    at_least: Count
    """The best prompt has at least this many right answers."""
    at_most: Count
    """It has at most this many."""
    answers: Count
    """Answers, one for each prompt and example, that were read or computed."""
    of_answers: Count
    """Those of the whole sweep."""
    begun: Count
    """Prompts of which any example was scored; the ledger counts them."""
    whole: Count
    """Prompts that were scored on all of their examples."""
    of_prompts: Count
    """Prompts of the whole sweep."""
    p_at_most: Share
    """p_max of `at_least`: that of the best prompt is not above it."""


@dataclass(slots=True, kw_only=True)
class ClaimRecord(ItemRecord):
    """One claim with its numbers; see docs/design.md for the nouns."""

    task: str
    model: str
    quantization: str
    shots: Count
    asserted: dict[str, Any]
    """`assert` of the suite, red flags aside: {"p_max": 0.05}."""
    levels: dict[str, float] = field(default_factory=dict)
    """The level of each p-value: its share if claims share their levels, or the part that a look
    spends. {"p_max": 0.05}; empty where it is as asserted."""
    severities: dict[str, Severity] = field(default_factory=dict)
    """What the suite says about red flags, if that is not the default: {"majority": "fail"}."""
    share: Literal["nothing", "texts"] = "nothing"
    """`share` of the suite: whether what is made in CI may hold texts of questions."""
    revision: str | None = None
    model_digest: str | None = None
    """By which the ledger knows the model: its weights, and how they are used. None if no model was
    run."""
    counted_as: str | None = None
    """By which name the ledger counts its tries, where that is not the model's: a trained arm of a
    contamination check counts by its part."""
    backend: str = "transformers"
    scoring: str = "mean_logprob"
    n: Count | None = None
    t: Count | None = None
    generated: Generated | None = None
    """None where choices were scored."""
    roles: dict[str, int] = field(default_factory=dict)
    """Without choices: in how many examples references can take each other's places, by their kind
    or by what they are to their question ("offered (2)", "copied"). The baselines are learnt from
    answers whose references have done so. Empty where there are choices."""
    sampled: Sampled | None = None
    """None where each answer was asked for once."""
    metric: str = "accuracy"
    """The measure that the best prompt maximizes, and that the baselines are about; score: the mean
    of graded scores, of which there is no number of right answers."""
    judge: str | None = None
    """Who, or what, gave the scores, where the results tell."""
    rule: str | None = None
    """Digest of how an answer is found right, such as by which comparison with its references; None
    where choices tell it, or nothing does."""
    best_correct: Count | None = None
    best_accuracy: Share | None = None
    best_score: Difference | None = None
    """The best prompt's value of the metric."""
    standard_baseline: Share | None = None
    max_random_baseline: Share | None = None
    max_random_baseline_error: float | None = None
    """Monte Carlo standard error; 0 where nothing was simulated."""
    p_standard: Share | None = None
    p_max: Share | None = None
    p_max_error: float | None = None
    """Monte Carlo standard error; 0 where nothing was simulated."""
    log_p_max: float | None = None
    union_p: Share | None = None
    """At least p_max for any dependence between prompts: t times the p-value of one guesser."""
    permutation_p: Share | None = None
    baseline_p: Share | None = None
    """P-value of "the best prompt's score is above the stated baseline"."""
    baseline: BesideIncumbent | None = None
    """How the best prompt compares with a score that the suite states; None where it states none.
    What is said of an incumbent is then said of something that scores the same on each example."""
    control_p: Share | None = None
    """P-value of "the best prompt is better than the control"."""
    control: BesideIncumbent | None = None
    """How the best prompt compares with a blank or constant answer that was scored as it was; None
    where the suite names no control."""
    incumbent_p: Share | None = None
    """P-value of "the best prompt is better than the incumbent, by more than `by`"."""
    incumbent: BesideIncumbent | None = None
    """How the best prompt compares with what runs today; None where the suite names no
    incumbent."""
    adjusted_p: Share | None = None
    """The p-value that the claim is about, adjusted for all the claims of the run."""
    majority_rate: Share | None = None
    """Accuracy of the best constant answer; None where no two examples share an answer."""
    majority_p: Share | None = None
    """p_max of that constant answer."""
    shortcuts: Shortcuts | None = None
    """The best prompt compared with heuristics that need no knowledge; None without texts."""
    critical_count: Count | None = None
    """Fewest correct answers that would have passed the claim; None if no count can."""
    critical_score: Difference | None = None
    """The same, if the metric is not accuracy."""
    critical_parts: list[str] = field(default_factory=list)
    """The parts of the claim that these account for. The permutation p is one where it is known
    what it needs with the other answers as they are; else it depends on the answers."""
    verdict: Standing | None = None
    holds: bool | None = None
    """Whether what is asserted holds, red flags aside."""
    passes_on: PassesOn | None = None
    """On what it passes without a permutation p, so that a preferred label may pass as well; None
    where there is one, or where it does not pass."""
    red_flags: list[RedFlag] = field(default_factory=list)
    """Signs that the result looks better than it is; those that fail the claim first."""
    tries: Tries | None = None
    different_answers: Count | None = None
    """How many different answers the ledger knows of this claim on these examples, these included:
    the same prompts may be asked again, of a server or another machine, and answer otherwise. None
    where it counts no looks, as of recorded results that are compared with nothing."""
    searched: Searched | None = None
    """None where no search has tried prompts on these examples."""
    new_questions: NewQuestions | None = None
    """None if it is not known which prompt is right on which example."""
    decided: DecidedEarly | None = None
    """Present if the verdict was known before all answers; the best accuracy is then unknown."""
    test: HeldOut | None = None
    recorded: Recorded | None = None
    published: Published | None = None
    answers: str | None = None
    """Which prompt was right on which example, packed: see `pytest_maxrandom.record.packed`. None
    where not all were computed, or none are known."""
    correct_counts: list[int] = field(default_factory=list)
    """Correct answers of each prompt, in the order of the sweep."""
    mean_scores: list[float] = field(default_factory=list)
    """Mean score of each prompt, in the order of the results; empty where answers are right or
    wrong."""
    ties: int | None = None
    """Answers of all prompts that were decided by lot between equal scores."""
    best_ties: int | None = None
    """The same, of the best prompt."""
    prompts: PromptCount | None = None
    validation: ValidationSet | None = None
    validation_ids: list[str] = field(default_factory=list)
    task_digest: str | None = None
    best_prompt: BestPrompt | None = None
    engine: SweepCost | None = None
    training: TrainingRecord | None = None
    """None where the model is run as it is."""
    clusters: int | None = None
    """Clusters that the n examples belong to; None where none are stated."""
    effective_n: float | None = None
    """n^2 / sum of squared cluster sizes: the least that the n examples are worth."""

    @property
    def guessers(self) -> int | None:
        """Of how many guessers the best one is compared with.

        That is t, or after a search what its best prompt is judged as the best of. None where that
        has no number.
        """
        if self.searched is None or not self.searched.learned:
            return self.t
        return None if self.searched.possible is None else int(self.searched.possible)

    @property
    def decided_on_test(self) -> HeldOut | None:
        """What the test set says, where it alone decides after a search, and was opened."""
        alone = self.searched is not None and self.searched.why is not None
        return self.test if alone else None

    @property
    def chances(self) -> dict[str, int]:
        """Number of examples by the chance of one guess, as fractions: {"1/2": 50}."""
        made = self.recorded or self.validation
        return made.chances if made else {}

    @property
    def failing_flags(self) -> list[RedFlag]:
        """The red flags that fail the claim."""
        return [flag for flag in self.red_flags if flag.severity == "fail"]

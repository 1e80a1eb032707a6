"""What is recorded of every claim: the rows of all reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_maxrandom.record.base import Count, Difference, ItemRecord, Remark, Share, Standing
from pytest_maxrandom.record.cost import SweepCost
from pytest_maxrandom.record.counts import PromptCount, Searched, Tries, ValidationSet
from pytest_maxrandom.record.red_flags import RedFlag, RedFlagKind, Severity
from pytest_maxrandom.record.training import TrainingRecord

HeuristicName = Literal[
    "most_frequent", "longest", "shortest", "first", "last", "most_shared_words"
]
"""Which choice is taken: the label that is right most often; the longest or shortest text; the
first or last as shown; the text that has most words of the question."""
Measure = Literal["accuracy", "balanced_accuracy"]
ShortcutControl = Literal["choices_only"]


@dataclass(slots=True)
class Shortcuts:
    """What heuristics, and the best prompt with blank inputs, reach on the best prompt's examples.

    Heuristics that leave several choices have the mean over these.
    """

    measure: Measure
    """What all of them are compared in; balanced accuracy where the metric is no accuracy."""
    best: float
    """The best prompt's."""
    heuristic: HeuristicName
    """The best of the heuristics."""
    heuristic_score: float
    """What it reaches."""
    heuristic_p: float
    """P-value of "the best prompt is above it": signs flipped of the examples' differences,
    one-sided."""
    heuristics: dict[HeuristicName, float]
    """What each of them reaches; first and last only where the prompt lists the choices."""
    choices_only: float | None = None
    """What the best prompt reaches with blank inputs; None where it was not asked so."""
    choices_only_p: float | None = None
    """P-value of "the best prompt is above that"."""


@dataclass(slots=True)
class NewQuestions:
    """What the best prompt is worth on questions like these that were not used to select it."""

    low: Share
    """Its accuracy there is at least this, at 95 %: what it leaves possible as the best of t."""
    estimate: Share | None
    """Its accuracy there, without the bias of the selection: selected on resampled examples, scored
    on those that were not drawn. None where that leaves none."""
    resamples: int
    """How often the examples were drawn for the estimate."""
    clusters: Count | None = None
    """Clusters of the best prompt's examples, which were drawn whole; None where each example
    stands by itself."""


@dataclass(slots=True)
class HeldOut:
    """The best prompt on the test set, which is opened for a claim that passed only."""

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
    """Its examples that stand in a validation set of the ledger: no test for those who saw them."""
    clusters: int | None = None
    """Clusters that its examples belong to; None where none are stated."""
    effective_n: float | None = None
    """n^2 / sum of squared cluster sizes; the interval is that of so many examples."""
    majority_rate: Share | None = None
    """Accuracy of the best constant answer there; None where no two examples share an answer."""
    permutation_p: Share | None = None
    """P(the same answers have at least as many right) where right answers are shuffled."""
    p: Share | None = None
    """The larger of both, times `tests`: what `test_p` is about."""
    tests: Count | None = None
    """The openings, or the claims of the run that may open this test set where these are more."""


@dataclass(slots=True)
class Recorded:
    """Where the results of a claim come from that ran no model."""

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
    """In what the results differ from what was published."""


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
    """Tokens of an answer at most."""
    stop: list[str] | None
    """Texts at which an answer ended; None: at what begins the prompt's next question."""
    temperature: float
    """0: the likeliest token each time."""
    pattern: str | None
    """Regular expression whose first group was read in place of the whole answer."""
    answers: int = 0
    """Answers of all prompts."""
    unreadable: int = 0
    """Those that ended by themselves and named no choice, or several."""
    cut: int = 0
    """Those that were cut at `max_tokens` and named no choice, or several."""
    refused: int = 0
    """Those that the model, or its server, refused."""


@dataclass(slots=True)
class DecidedEarly:
    """What is known of a claim that was decided before all of its answers were computed."""

    at_least: Count
    """The best prompt has at least so many right answers."""
    at_most: Count
    """It has at most so many."""
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
    """What each p-value was compared with: its share where claims share their levels, or what is
    spent where looks do. {"p_max": 0.05}; empty in older reports, where it is as asserted."""
    severities: dict[RedFlagKind, Severity] = field(default_factory=dict)
    """What the suite says of red flags, where that is not the default: {"majority": "fail"}."""
    share: Literal["nothing", "texts"] = "nothing"
    """`share` of the suite: whether what is made in CI may hold texts of questions."""
    revision: str | None = None
    backend: str = "transformers"
    scoring: str = "mean_logprob"
    n: Count | None = None
    t: Count | None = None
    generated: Generated | None = None
    """None where choices were scored."""
    metric: str = "accuracy"
    """What the best prompt is best in, and the baselines are baselines of."""
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
    """At least p_max however prompts depend on each other: t times the p-value of one guesser."""
    permutation_p: Share | None = None
    adjusted_p: Share | None = None
    """The p-value that the claim is about, adjusted for all the claims of the run."""
    majority_rate: Share | None = None
    """Accuracy of the best constant answer; None where no two examples share an answer."""
    majority_p: Share | None = None
    """p_max of that constant answer."""
    shortcuts: Shortcuts | None = None
    """The best prompt beside what needs no knowledge; None where no texts are at hand."""
    critical_count: Count | None = None
    """Fewest correct answers that would have passed the claim; None if no count can."""
    critical_score: Difference | None = None
    """The same, where the metric is no accuracy."""
    verdict: Standing | None = None
    holds: bool | None = None
    """Whether what is asserted holds, red flags aside."""
    red_flags: list[RedFlag] = field(default_factory=list)
    """What makes the result look better than it is; those that fail the claim first."""
    tries: Tries | None = None
    searched: Searched | None = None
    """None where no search has tried prompts on these examples."""
    new_questions: NewQuestions | None = None
    """None where it is not known which prompt is right where."""
    decided: DecidedEarly | None = None
    """Where the verdict was known before all answers were; the best accuracy is then not known."""
    test: HeldOut | None = None
    recorded: Recorded | None = None
    published: Published | None = None
    correct_counts: list[int] = field(default_factory=list)
    """Correct answers of each prompt, in the order of the sweep."""
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
    """n^2 / sum of squared cluster sizes: what the n examples are worth at least."""

    @property
    def guessers(self) -> int | None:
        """Of how many guessers the best one is compared with: t, or what a search could have tried.

        None where that has no number.
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
    def failing_flags(self) -> list[RedFlag]:
        """The red flags that fail the claim."""
        return [flag for flag in self.red_flags if flag.severity == "fail"]

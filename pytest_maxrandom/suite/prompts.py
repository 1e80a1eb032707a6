"""What a suite may say of its prompts, and of how their questions are asked."""

from __future__ import annotations

import re
from re import _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from pytest_maxrandom.suite.base import (
    Distinct,
    FormatSpec,
    OneOrMore,
    Prose,
    Seed,
    Shots,
    Spec,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction

TextPart = Literal["case", "punctuation", "articles", "spaces"]
"""What SQuAD's normalisation takes away (Rajpurkar et al. 2016, arXiv:1606.05250)."""


class PromptsSpec(Spec):
    """The prompts of a sweep: demonstrations x instructions x formats."""

    shots: Annotated[list[Shots], Field(min_length=1), Distinct, OneOrMore()] = Field(default=[4])
    """Demonstrations per prompt; each number makes a claim."""
    count: Annotated[int, Field(gt=0, le=1_000_000)] = 200
    """Number of distinct prompts to draw. A small pool may give fewer, and the report then says
    so."""
    budget: Annotated[int, Field(gt=0, le=1_000_000)] | None = None
    """t, declared in advance: each look is tested as the best of that many prompts, and no more
    than that are ever evaluated."""
    seed: Seed = 0
    """Another seed draws other prompts."""
    demonstrations: Literal["auto", "outside", "leave_out"] = "auto"
    """outside: from examples that are not in the validation set. leave_out: from the validation set
    itself; each prompt is then scored without its own demonstrations. auto: outside if enough
    examples are left, else leave_out. With outside or auto, a task with a pool takes them from the
    pool."""
    instructions: Annotated[list[Prose], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Instruction variants, each used instead of the task's prefix."""
    formats: Annotated[list[FormatSpec], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Format variants."""
    combine: Literal["sample", "cross"] = "sample"
    """sample: each prompt draws an instruction and a format. cross: each draw of demonstrations is
    written in every instruction and format."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a count that the budget or the variants do not allow."""
        if self.budget is not None and self.budget < self.count:
            yield (
                ("budget",),
                f"found {self.budget}, expected at least prompts.count, which is {self.count}; "
                "raise the budget or ask for fewer prompts",
            )
        variants = len(self.instructions or [""]) * len(self.formats or [""])
        if self.combine == "cross" and self.count < variants:
            yield (
                ("count",),
                f"found {self.count}, expected at least {variants}, because `combine: cross` "
                f"writes each draw in {variants} ways; raise it or use `combine: sample`",
            )


class CounterfactualSpec(Spec):
    """Counterfactual scoring: `{question}{answer}{statement}`, then a continuation to score."""

    output_prefix: Prose | None = None
    """Text before each answer, instead of the task's or the format's."""
    statement: Prose = " is the"
    """Text between the answer and the continuation."""
    continuation: Text = " best"
    """Text that is scored after each choice's statement."""


def _as_tuple(value: Any) -> Any:
    """Let one text stand for several; tuples can be compared and kept as they are."""
    return (
        tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value
    )


_LONGEST = 1_000_000
"""Parts of a pattern: the package `regex` writes its repetitions out, in some 260 bytes each."""


def written_out(pattern: Any) -> int:
    """Return how many parts a pattern has where each repetition stands as often as it must.

    Parameters
    ----------
    pattern : re._parser.SubPattern
        As Python's own parser read it; what text stands between the parts misleads nobody there.
    """
    parts = 0
    for kind, of in pattern:
        if kind in _parser._REPEATCODES:
            least, _, repeated = of
            parts += max(least, 1) * written_out(repeated)
        else:
            within = of[1] if kind is _parser.BRANCH else of if isinstance(of, tuple) else (of,)
            groups = [each for each in within if isinstance(each, _parser.SubPattern)]
            parts += sum(map(written_out, groups)) if groups else 1
    return parts


def _pattern(text: str) -> str:
    try:
        parsed = _parser.parse(text)
        groups = re.compile(text).groups
    except (re.error, OverflowError) as error:
        raise ValueError(f"a Python regular expression ({error})") from None
    except RecursionError:
        raise ValueError("a regular expression with fewer groups within groups") from None
    if written_out(parsed) > _LONGEST:
        raise ValueError(
            f"a regular expression that has at most {_LONGEST:,} parts where its repetitions are "
            "written out"
        )
    if not groups:
        raise ValueError("a regular expression with a group in parentheses that matches the answer")
    return text


_MOST_SAMPLES = 1000


class PassSpec(Spec):
    """The unbiased estimate of pass@j, from more samples."""

    asked: Annotated[int, Field(alias="pass", ge=1, le=_MOST_SAMPLES)]
    """The number j of samples of which any is to be right."""


class AggregateSettings(Spec):
    """What the samples of an answer come to."""

    aggregate: Literal["mean", "vote", "pass", "all"] | PassSpec | None = None
    """Where there are several samples of each answer: what they come to. mean: the share that is
    right, if not given. vote: the commonest answer. pass: any is right; {pass: 4}: the estimate of
    that of 4 samples, from more. all: all are. Of grades: their mean, that of the commonest answer,
    the best, the worst."""


class GenerationSpec(AggregateSettings):
    """Answers that are generated: how long they may be, and how they are read."""

    max_tokens: Annotated[int, Field(gt=0, le=100_000)] = 64
    """Tokens of an answer at most. What is cut there, and holds no choice, is wrong."""
    stop: (
        Annotated[
            tuple[Text, ...],
            Field(max_length=16),
            BeforeValidator(_as_tuple, json_schema_input_type=Text | list[Text]),
        ]
        | None
    ) = None
    """Texts at which an answer ends; if not given, the text that begins the prompt's next
    question."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """0 takes the likeliest token each time; above 0, tokens are drawn, with a separate seed for
    each prompt and example."""
    samples: Annotated[int, Field(ge=1, le=_MOST_SAMPLES)] = 1
    """How often each prompt is asked each example; needs a temperature above 0. With more later,
    those that are stored are read."""
    seed: Seed = 0
    """Another seed draws other tokens: its prompts are further tries."""
    pattern: Annotated[Text, AfterValidator(_pattern)] | None = None
    """Python regular expression whose first group is read instead of the whole answer."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield samples that would all be the same, and what single answers cannot come to."""
        if self.samples > 1 and not self.temperature:
            yield (
                ("samples",),
                f"found {self.samples}, but at temperature 0 all are the same answer; give a "
                "`temperature` such as 0.7, or remove it",
            )
        if self.aggregate is not None and self.samples == 1:
            yield (
                ("aggregate",),
                "each answer is one sample; ask for several (`samples: 5`), or remove it",
            )
        asked = self.aggregate.asked if isinstance(self.aggregate, PassSpec) else 1
        if 1 < self.samples < asked:
            yield (
                ("aggregate",),
                f"pass@{asked} needs at least {asked} samples, found {self.samples}; ask for more",
            )


class ExactMatchSpec(Spec):
    """When an open answer is one of the references."""

    normalise: Annotated[list[TextPart], Distinct, OneOrMore()] = Field(
        default=[*get_args(TextPart)]
    )
    """What of a text does not count; all four are SQuAD's normalisation. []: texts are compared to
    the character, spaces at their ends aside."""
    numbers: bool = True
    """Whether numbers are compared by their values (1,000 is 1000.0), and not as texts, which
    without punctuation would take 3.5 for 35."""
    math: bool = False
    """Whether answers are compared as mathematics, formulas in LaTeX among them, by the package
    math-verify (the extra `math`); `normalise` says nothing then."""

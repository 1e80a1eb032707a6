"""What a suite may say about trained arms: on which texts, how, and for which answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.suite.base import Contradiction, Distinct, OneOrMore, Seed, Spec, Text

if TYPE_CHECKING:
    from collections.abc import Iterator


Examples = Annotated[int, Field(gt=0, le=1_000_000)]
Epochs = Annotated[int, Field(gt=0, le=1000)]
Rate = Annotated[float, Field(gt=0, le=1)]
BatchSize = Annotated[int, Field(gt=0, le=4096)]
MaxLength = Annotated[int, Field(gt=1, le=1_000_000)]

Objective = Literal["causal", "masked"]
Method = Literal["full", "lora", "qlora"]

_WORDS = ("extra", "scored")
_OF_ADAPTERS = ("rank", "alpha", "dropout", "modules")


def is_path(text: str) -> bool:
    """Whether a text of `train` can be a path; else it is a word, and perhaps spelled wrongly."""
    return any(mark in text for mark in "./\\")


class TrainSpec(Spec):
    """Further pretraining of an arm's model on texts, before it is asked anything."""

    text: Text
    """scored: the texts of the scored examples, without their answers (never those of the test
    set). extra: as many other texts of the task, which are neither scored nor shown nor labelled.
    Otherwise a file (relative to the suite file): JSONL with `text` in each row, or plain text with
    one text per line; it is used unchanged."""
    examples: Examples | None = None
    """Number of texts; as many as are scored if not given."""
    form: Literal["text", "prompt"] = "text"
    """text: the example's input alone. prompt: what a sweep would ask: the instruction, the text,
    and the choices if they are listed, up to the place of the answer."""
    objective: Objective = "causal"
    """causal: the next token. masked: masked tokens, for a model that reads in both directions
    (BERT)."""
    method: Method = "full"
    """full: all weights. lora: an adapter on every linear layer. qlora: the same on 4-bit weights,
    for a model with `quantization: nf4` or `fp4`."""
    rank: Annotated[int, Field(gt=0, le=4096)] = 16
    """Rank of the adapter."""
    alpha: Annotated[float, Field(gt=0, le=65536)] = 32
    """The adapter's weight is alpha / rank."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Share of the adapter's inputs that are left out at each step."""
    modules: Annotated[list[Text], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Names of the layers that get an adapter, such as q_proj; every linear layer if not given."""
    epochs: Epochs = 1
    """How often each text is read."""
    learning_rate: Rate | None = None
    """Step size of AdamW; 5e-5 for `method: full`, else 2e-4, if not given."""
    batch_size: BatchSize = 16
    """Texts per step."""
    max_length: MaxLength = 256
    """Largest number of tokens in a text; longer texts are cut."""
    seed: Seed = 0
    """Another seed shuffles, masks and starts differently. It is combined with the replicate's
    seed."""

    @property
    def path(self) -> str | None:
        """The file of texts; None where they are the task's."""
        return None if self.text in _WORDS else self.text

    @property
    def rate(self) -> float:
        """The learning rate."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 5e-5 if self.method == "full" else 2e-4

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield settings of an adapter that there is not, and of prompts that are not written."""
        if self.method == "full":
            for key in _OF_ADAPTERS:
                if key in self.model_fields_set:
                    yield (
                        (key,),
                        "this is about an adapter, but `method: full` trains all weights; remove "
                        "it, or use `method: lora`",
                    )
        if self.path is not None and not is_path(self.text):
            hint = did_you_mean(self.text, _WORDS, "`{}`".format)
            if self.text.lower() in ("test", "validation"):
                hint = "; the texts of the examples that are scored are `scored`"
            yield (
                ("text",),
                f"found {self.text!r}, expected extra, scored or a path (a file of that name is "
                f"./{self.text}){hint}",
            )
        if self.path is not None and self.form == "prompt":
            yield (
                ("form",),
                "a file of texts is used unchanged; remove this, or use `text: extra` or `text: "
                "scored`",
            )


class ClassifySpec(Spec):
    """A classification head, fine-tuned with all weights on labelled examples of the task."""

    examples: Examples = 50
    """Number of labelled examples to train on; they are never scored."""
    stratified: bool = True
    """Whether classes have the same shares as in the task."""
    epochs: Epochs = 3
    """How often each labelled example is read."""
    learning_rate: Rate = 5e-5
    """Step size of AdamW."""
    batch_size: BatchSize = 16
    """Labelled examples per step."""
    max_length: MaxLength = 256
    """Largest number of tokens in a text, in training and in questions; longer texts are cut."""
    seed: Seed = 0
    """Another seed draws other examples and starts differently. It is combined with the
    replicate's."""

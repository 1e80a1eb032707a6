"""What computed the numbers of a sweep, what that cost, and what the model was trained on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_maxrandom.record.base import Amount, Count
from pytest_maxrandom.stats.seeding import digest


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What determines a number besides model, prompt and example.

    Batch sizes, threads and free memory are not part of it: their effects are within the tolerance
    by which engines are compared. Results that differ here are stored separately, so a backend
    gives what its numbers depend on, and no more: for a model behind an address the server's name
    and version, for one that is no network any names that stay the same.
    """

    processor: str
    """Kind of the GPU, or of the processor with the features by which libraries choose kernels."""
    kernels: str
    """Kernels of the layers that hold most weights: torch's, or bitsandbytes' on one of its
    paths."""
    versions: dict[str, str]
    """Versions of the libraries that compute."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all of it."""
        versions = [part for pair in sorted(self.versions.items()) for part in pair]
        return digest(self.processor, self.kernels, *versions)

    @property
    def shown(self) -> str:
        """What it is, for a person."""
        versions = " ".join(f"{name} {number}" for name, number in sorted(self.versions.items()))
        return f"{self.processor} ({self.kernels}; {versions})"


@dataclass(slots=True)
class SweepCost:
    """What the sweep cost."""

    device: str
    dtype: str
    requests: int
    """(prompt, example, choice) triples scored in this run."""
    tokens_forwarded: int
    """Tokens put through the model in this run, padding included."""
    seconds: float
    """Seconds of scoring in this run, without loading the model."""
    trie_nodes: int | None = None
    """Fewest tokens that could have been put through the model for that."""
    engine: str | None = None
    """How texts were put through the model: packed, rows or plain."""
    engine_reason: str | None = None
    """Why the engine was not a faster one."""
    batch_tokens: int | None = None
    """Largest number of tokens put through the model at once; None if no model was needed."""
    peak_memory: int | None = None
    """Peak memory in bytes: of the accelerator, else of the process."""
    reused: int = 0
    """Prompts whose results were read from the store."""
    reused_seconds: float = 0.0
    """Seconds that scoring them took at the time."""
    closest: float | None = None
    """Smallest difference between the best and the second-best score of an answer, in the unit of
    the score; ties, which are broken at random, do not count."""
    asked_dtype: str | None = None
    """The type that the suite asks for, if the kernels compute in another, `dtype`."""
    arithmetic: Arithmetic | None = None
    """What computed the numbers, in this run or earlier."""
    handshake: dict[str, str | int | float | None] | None = None
    """For a model behind a server: what the server says that it serves; how many texts it tokenized
    like the local tokenizer (`tokenized`); by how many nats log-likelihoods differed when asked for
    twice, in two orders (`repeated`), and from the same weights on this machine (`local`); and how
    many texts that it generated twice were the same (`same_texts`)."""
    chat: list[str] | None = None
    """The text before and after each prompt, if prompts are messages to a chat model."""
    quantized: str | None = None
    """How the model's files were already quantized, if they were: "gptq, 4 bits"."""
    servers: list[str] = field(default_factory=list)
    """Each server that computed some of the numbers, with what it said of itself and when it was
    asked, in this run or earlier."""
    tokens_cached: int | None = 0
    """Tokens that a server was sent and had kept from before; None if it did not tell, so that
    `tokens_forwarded` is what it computed at most."""


@dataclass(slots=True)
class TrainingRecord:
    """The training of one arm's model, in one replicate.

    What was found is None where nothing was trained in this run and nothing was kept of it.
    """

    text: str | None
    """What it was trained on further: extra, scored, or a file; None where it has a classification
    head alone."""
    texts: Count
    """How many texts of that."""
    text_digest: str
    """SHA-256 (hex) of all the texts that it read, labelled ones included."""
    settings: dict[str, Any]
    """`train` of the arm, with its defaults; empty without."""
    classify: dict[str, Any]
    """`classify` of the suite or the arm, with its defaults; empty without."""
    labelled: dict[str, int]
    """Labelled examples of each class."""
    seed: int
    """Of the replicate; it is mixed with those of the settings."""
    copies: Count
    """Examples that were passed over when texts were drawn, as copies of what stands on another
    side: scored, labelled, extra, or in the test set."""
    shared: dict[str, int] = field(default_factory=dict)
    """By side (scored, labelled, test), how many of its examples have a text that further
    pretraining read. Labelled and test are 0, or the suite is refused; scored is 0 for other texts.
    Empty without further pretraining."""
    losses: list[float] = field(default_factory=list)
    """Mean cross-entropy in nats per token, or per labelled text, at each logging step: of the
    further pretraining, then of the head."""
    pretraining_steps: Count | None = None
    """How many of the losses are those of the further pretraining."""
    tokens: Count | None = None
    """That went through the network in training, without padding."""
    steps: Count | None = None
    """Of the optimizer."""
    cut: Count | None = None
    """Texts that were longer than `max_length`."""
    seconds: Amount | None = None
    peak_memory: int | None = None
    """Bytes, at most: of the GPU in this training, or else of the process so far."""
    threads: int | None = None
    """Of the processor."""
    from_cache: bool | None = None
    """Whether the weights were read, and nothing was trained in this run."""

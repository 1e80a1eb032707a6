"""What a backend and its models must do: the two protocols that whoever adds one writes."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host import TRAINED, TRAINED_GB
from pytest_maxrandom.models.questions import Estimate, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_maxrandom.models.training import Size, Trained, Training
    from pytest_maxrandom.record import Arithmetic, Fingerprint
    from pytest_maxrandom.suite.models import ModelSpec

EngineName = Literal["auto", "packed", "rows", "plain"]


@dataclass(frozen=True, slots=True)
class Located:
    """A model that was found."""

    spec: ModelSpec
    """What the suite says of it, an instance of the backend's own class."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the model is, by the key of the spec that says so: a folder, the name on a hub, or an
    address. Two models with the same places and the same other keys are one."""
    training: Training | None = None
    """What it is trained on before it is asked anything."""

    @property
    def key(self) -> tuple[str, ...]:
        """What two items must have in common to share a loaded model."""
        said = self.spec.model_dump_json(exclude={"label", *self.places})
        trained = () if self.training is None else (f"training={self.training.digest}",)
        return *(f"{key}={place}" for key, place in self.places.items()), said, *trained

    @property
    def size(self) -> int | None:
        """Bytes of the files that are read to tell who it is; None if it is not on this machine."""
        folders = [Path(place) for place in self.places.values()]
        if not all(folder.is_dir() for folder in folders):
            return None
        files = (path for folder in folders for path in folder.iterdir())
        return sum(path.stat().st_size for path in files if path.is_file())


@dataclass(frozen=True, slots=True)
class Identity:
    """What determines a model's numbers: answers are stored, and prompts are counted, under it."""

    digest: str
    """SHA-256 (hex) of the weights and of how they are used. Neither the place nor the name of the
    model is a part of it, nor what computes it."""
    arithmetic: Arithmetic
    """What computes it on this machine, as far as that is known before it is loaded; a loaded model
    tells better."""
    tried_digest: str
    """The digest by which the ledger knows the model. It is the same where an answer may differ by
    rounding only, so that the same prompt in another precision is no other try."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the texts of a model that is not loaded may be."""

    limit: int
    """Tokens at most."""
    said: str
    """What says so: "the model's context"."""
    tokens: Callable[[Sequence[str]], list[int]]
    """Returns how many tokens each of some texts has."""


@dataclass(slots=True)
class Resources:
    """What a model may use."""

    worker: int = 0
    workers: int = 1
    """Number of this process, from 0, among those that share the machine."""
    engine: EngineName = "auto"
    """How texts are put through the model, where the backend has several ways."""
    batch_tokens: int | None = None
    """Tokens of a batch at most; None leaves it to the memory at hand."""
    tell: Callable[[str], None] = lambda sentence: None
    """Tells the user a sentence at once, such as that a GPU is waited for."""
    held: ExitStack = field(default_factory=ExitStack)
    """What is given back when the model is dropped, or could not be loaded, such as locks."""
    generates: bool = False
    """Whether the model is wanted to generate answers, and need not tell likelihoods."""
    trained: Path = Path(TRAINED)
    """Folder in which the weights of trained arms are kept."""
    trained_bytes: int = TRAINED_GB * 10**9
    """How large that folder may grow; the arms are removed that were used least lately."""
    training: Callable[[int, int, float | None], None] = lambda step, steps, loss: None
    """Told of each logging step of a training: which step it is, of how many, and the loss, which
    is None before the first."""


class Backend(Protocol):
    """What runs models: one class in one package, named by an entry point.

    A package adds a backend with the entry point ``name = "module:Class"`` in the group
    ``pytest_maxrandom.backends``; suites then say ``backend: name``. The class is called without
    arguments, once in a session, when a suite first names it. It derives from this protocol, and
    need write only `spec`, `locate`, `identity` and `load`: the other methods say here that there
    is nothing to tell, and that no model can be trained.
    """

    spec: type[Any]
    """A subclass of :class:`pytest_maxrandom.suite.models.ModelSpec` with the backend's own keys,
    their types, defaults and a docstring for each: mistakes in suites are reported, and editors are
    helped, by these."""

    def begin(self, session: str) -> None:
        """Begin a session, before anything else is asked.

        Parameters
        ----------
        session : str
            What the processes of one session have in common; empty if there is one process.
        """

    @abstractmethod
    def locate(self, spec: Any, base: Path) -> Located:
        """Find a model without loading it or asking a network.

        Parameters
        ----------
        spec : instance of `spec`
        base : Path
            The folder of the suite file.

        Raises
        ------
        ModelNotFound
            With a sentence for each key that names nothing; it is shown with file and line. Where a
            key has few values, a `Literal` in the spec is better: it is in the schema too, and the
            nearest value is shown.
        ModelError
            In one sentence about the model.
        """

    def absent(self, located: Located) -> str | None:
        """Say which file of a model is not on this machine; None where none is missing.

        A suite's `if_missing` then skips the claims about it. No network is asked.
        """
        return None

    def lengths(self, located: Located) -> Lengths | None:
        """Return how long texts may be; None where that is not known before the model is loaded."""
        return None

    def check_training(self, located: Located) -> None:
        """Refuse what ``located.training`` says that the model cannot be trained on.

        Of what it does not refuse, `load` trains the model first; `identity` is that of the base.

        Raises
        ------
        ModelError
            In one sentence; here for any training.
        """
        raise ModelError(
            f"the backend {located.spec.backend!r} of {located.spec.name} cannot train a model; "
            "use `backend: transformers`"
        )

    def trained(self, located: Located, resources: Resources) -> Trained | None:
        """Return what a training found that was done before and is kept; None if it was not."""
        return None

    def training_size(self, located: Located, resources: Resources) -> Size | None:
        """Return how much of a training is left to read; None where that is not known."""
        return None

    @abstractmethod
    def identity(self, located: Located) -> Identity:
        """Return what determines the model's numbers, without loading it.

        What may change under a name (a branch on a hub) is looked up once in a session.

        Raises
        ------
        ModelError
            In one sentence.
        """

    @abstractmethod
    def load(self, located: Located, resources: Resources) -> Model:
        """Load the model.

        Raises
        ------
        ModelError
            In one sentence.
        """


class Model(Protocol):
    """A loaded language model, whose class derives from this protocol.

    Questions and answers are those of :mod:`pytest_maxrandom.models.questions`. A model with a
    classification head answers questions whose `context` is a text and whose `answers` are the
    classes, by the head's log-probabilities; each answer counts as one token.
    """

    device: str
    dtype: str
    """Where and in what precision it computes, for the report."""
    arithmetic: Arithmetic
    """What computes its numbers."""
    context_length: int | None
    """The longest text in tokens; None where there is no limit."""
    engine: str
    """How texts are put through the model: "packed", "rows" or "plain"."""
    engine_reason: str | None = None
    """Why that is not "packed"."""
    asked_dtype: str | None = None
    """The precision that was asked for, where it computes in another one."""
    revision: str | None = None
    """The commit that was loaded, where it is known."""
    generates: bool = False
    """Whether it answers questions with a `generation` by an `Answer` with a text. One that does
    not is asked for likelihoods only."""
    quantized: str | None = None
    """How its files are quantized, for the report, where they tell."""
    trained: Trained | None = None
    """What its training found."""

    @property
    def chat(self) -> tuple[str, str] | None:
        """What stands before and after a prompt where it is a message to the model."""
        return None

    @property
    def handshake(self) -> dict[str, str | int | float | None] | None:
        """What was checked of the server that runs it, for the report."""
        return None

    def fingerprint(self, *, generates: bool) -> Fingerprint | None:
        """Return by what a model behind an address is known from others under the same name.

        None where its files tell that.

        Parameters
        ----------
        generates : bool
            Whether it is asked to generate answers, and need not tell likelihoods.

        Raises
        ------
        ModelError
            If the server is none that can be asked so.
        """
        return None

    @property
    def batch_tokens(self) -> int:
        """Tokens that go through the model at once."""

    def peak_memory(self) -> int | None:
        """Return the most bytes in use since it was loaded; None where that is not known."""
        return None

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse what cannot be asked, as far as that is known before anything is computed.

        Raises
        ------
        PromptTooLong
            If a text does not fit the model's context; its sentence begins with the example.
        QuestionError
            If nothing stands before a continuation, or a continuation is nothing.
        """

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return how likely the continuations of each question are, or the answers generated.

        The questions are those of one prompt: what their texts share may be computed once. They
        are taken as they are needed, so that memory need not grow with their number.

        Raises
        ------
        PromptTooLong, QuestionError
            As :meth:`check`.
        ScoreError
            If the model returns something that is not a number, or memory does not hold one text.
        """

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Return what asking takes, and compute nothing; here the number of requests alone."""
        return Estimate(sum(each.requests for each in questions))

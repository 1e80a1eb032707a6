"""What a suite may say of its models: for each backend keys of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.host.packages import BACKENDS
from pytest_maxrandom.record import SIMULATION, Remark, looks_real
from pytest_maxrandom.suite.base import (
    CONTRADICTION,
    QUANTIZATIONS,
    Contradiction,
    Dtype,
    Name,
    NamedModel,
    Quantization,
    Seed,
    Text,
)
from pytest_maxrandom.suite.extensions import SpecUnion

if TYPE_CHECKING:
    from collections.abc import Iterator


class ModelSpec(NamedModel):
    """A model that is run: the keys of all backends.

    A backend adds its own keys in a subclass. When a suite is read, the key `backend` selects the
    subclass.
    """

    name: Name
    """The model's name in reports and, for most backends, its location."""
    backend: str = "transformers"
    """What runs the model."""
    if_missing: Text | None = None
    """Where to get the model. If its files are neither in that folder nor in the hub's cache, its
    claims are skipped with this text as the reason, and nothing is downloaded; without this key,
    a folder that is missing is a mistake, and a model of the hub is downloaded. What a server
    runs is never missing."""

    in_arms: ClassVar[tuple[str, ...] | None] = None
    """The keys that an arm may change; None stands for all that the backend adds."""
    simulated: ClassVar[bool] = False
    """Whether answers are made up: reports say so, no ledger counts them, and the gate fails."""
    remote: ClassVar[bool] = False
    """Whether a server computes it, so that it takes no accelerator of whoever asks."""
    trains: ClassVar[bool] = False
    """Whether arms may train it (`train`, `classify`)."""

    @property
    def notes(self) -> list[Remark]:
        """What the reader of a report must know of the model."""
        return []

    @classmethod
    def keys_in_arms(cls) -> tuple[str, ...]:
        """Return the keys of the model that an arm may change."""
        return (
            tuple(key for key in cls.model_fields if key not in ModelSpec.model_fields)
            if cls.in_arms is None
            else cls.in_arms
        )


_KINDS = "; ".join(f"{name} = {known.description}" for name, known in QUANTIZATIONS.items())


class TransformersSpec(ModelSpec):
    """A causal language model of Hugging Face transformers, and how it is loaded."""

    name: Name
    """Hub id, or local folder (relative to the suite file)."""
    backend: Literal["transformers"] = "transformers"
    """What runs the model."""
    revision: Text | None = None
    """Branch, tag or commit on the hub."""
    adapter: Text | None = None
    """PEFT LoRA adapter to load into the model: a hub id, or a local folder (relative to the suite
    file) with `adapter_config.json` and `adapter_model.safetensors`."""
    quantization: Annotated[Quantization, Field(description=f"{_KINDS}.")] = "nf4"
    unverified: bool = False
    """Whether `quantization: stored` may load formats whose numbers were never verified, such as
    FP8 or MXFP4; every report says so."""
    dtype: Dtype = "auto"
    """The type of weights that are not quantized, and of arithmetic with 4-bit weights: auto is
    bfloat16 with nf4 and fp4, float16 with int8, and else as stored. On a processor without
    bfloat16 instructions, float32 is several times faster; on one with avx512_bf16, 4-bit layers
    are always computed in bfloat16, and the report says so."""
    device: Text = "auto"
    """auto (a GPU if there is one), cpu, cuda (a free GPU of the same kind as the first), cuda:1,
    ..."""
    device_map: Literal["auto", "balanced", "sequential"] | None = None
    """How to spread a model that needs several GPUs over all of them, instead of `device`."""
    trust_remote_code: bool = False
    """Whether code that comes with the model may run on this machine."""
    chat: bool = False
    """Whether each prompt is put into the model's chat template, as one user message."""

    in_arms: ClassVar[tuple[str, ...] | None] = (
        *("revision", "adapter", "quantization", "unverified", "dtype", "chat"),
    )
    trains: ClassVar[bool] = True

    @property
    def variant(self) -> str:
        """How the weights are quantized."""
        return self.quantization

    @property
    def notes(self) -> list[Remark]:
        """What its name does not say: an adapter, and numbers that nobody verified."""
        notes: list[Remark] = []
        if self.adapter:
            notes.append(Remark("adapter", {"model": self.name, "adapter": self.adapter}))
        if self.unverified and self.quantization == "stored":
            notes.append(Remark("unverified", {"model": self.name}))
        return notes

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield one device together with all of them, and a permission for what is not loaded."""
        if self.device_map is not None and self.device != "auto":
            yield (
                ("device_map",),
                "this spreads the model over all GPUs, but `device` names one; remove one of the "
                "two",
            )
        if self.unverified and self.quantization != "stored":
            yield (
                ("unverified",),
                "this is about files that are already quantized, but the suite says `quantization: "
                f"{self.quantization}`; remove it, or write `quantization: stored`",
            )


Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class MockSpec(ModelSpec):
    """A simulated model: it answers by rule, so its accuracy means nothing.

    Reports say that its results are simulated, a separate ledger and store keep them apart from
    those of real models, and the gate fails.
    """

    name: Name
    """The model's name in reports; another name gives other answers. A name or label that looks
    like the name of a real model, such as a hub id, is shown as `simulated`."""
    backend: Literal["mock"] = "mock"
    """What runs the model."""
    knows: Share = 0.0
    """The probability that it knows the answer to a question, whatever the order of the choices."""
    prefers: Text | dict[Text, Weight] | list[Weight] | None = None
    """What it answers when it does not know: always one label (a choice's text, or A), labels by
    weight ({"A": 3, "B": 1}), or places in the list of choices by weight ([1, 0]: the first). If
    not given, or if none of these is among the choices, all choices are equally likely. Without
    choices: a text, or texts by weight; if not given, it says that it does not know."""
    copies: Share = 0.0
    """The share of answers that each prompt copies from a set that all prompts share."""
    seed: Seed = 0
    """Another seed gives other answers."""
    seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """How long each prompt takes, to try out waiting and stopping; it changes no answer."""

    simulated: ClassVar[bool] = True

    @property
    def short_name(self) -> str:
        """The model's name in test ids; none that looks like that of a real model."""
        named = self.label or self.name
        return SIMULATION if looks_real(named) else named


def _address(url: str) -> str:
    # What stands in a refusal stands in reports too, so that these do not show what was found.
    mistake = "expected an address without ? and #" if "?" in url or "#" in url else ""
    if "@" in url:
        mistake = (
            "expected an address without user and password, which do not belong in a suite; name "
            "the variable with the key by `api_key_env`"
        )
    if mistake:
        raise PydanticCustomError(CONTRADICTION, "{told}", {"told": mistake})
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # no number of a port, or half an IPv6 address
        known = False
    if not known:
        raise ValueError("the address of a server, such as http://127.0.0.1:8000")
    return url


class ServedSpec(ModelSpec):
    """A model that a server has loaded."""

    remote: ClassVar[bool] = True

    name: Name
    """The model's name in reports."""
    url: Annotated[str, AfterValidator(_address)]
    """Address of the server, such as http://127.0.0.1:8000."""
    served_model: Text | None = None
    """The model's name on the server; `name` if not given."""
    api_key_env: Text | None = None
    """Environment variable with the server's key. The key is sent only if the runner allows it
    outside the repository, by MAXRANDOM_API_KEYS=HOST=VARIABLE."""
    tokenizer: Text | None = None
    """The model's tokenizer: a folder (relative to the suite file), or a hub id. If not given, the
    server is asked for the tokens of each text, if it can give them."""
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = None
    """How many requests are under way at once. If not given, 8 at first, and then as many as bring
    more answers in a second, 128 at most."""
    timeout: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """Seconds to wait for an answer, and for a server that has gone away."""
    chat: bool = False
    """Whether each prompt is put into the chat template of `tokenizer`, as one user message."""
    revision: Text | None = None
    """Which weights the server has, in any word. It answers otherwise once it has others, and its
    claims are then refused until this is another word: what has another one is a model of its own,
    and t counts the prompts of all of them."""

    in_arms: ClassVar[tuple[str, ...] | None] = ("url", "served_model", "chat", "revision")

    @property
    def most_told(self) -> int:
        """Of how many tokens at most the server tells, where choices are labels; 0 elsewhere."""
        return 0

    @property
    def served(self) -> str:
        """The name under which the server has it."""
        return self.served_model or self.name

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a chat template that is nowhere."""
        if self.chat and self.tokenizer is None and self.backend != "openai":
            yield (
                ("chat",),
                "`chat` uses the tokenizer's chat template, but no tokenizer is named; add "
                "`tokenizer` (a local folder, or a hub id)",
            )


class VllmSpec(ServedSpec):
    """A model on a vLLM server, which reads text that prompts share only once."""

    backend: Literal["vllm"] = "vllm"
    """What serves the model."""


class SglangSpec(ServedSpec):
    """A model on a server of SGLang, which reads what an example's choices share only once."""

    backend: Literal["sglang"] = "sglang"
    """What serves the model."""


class LlamaCppSpec(ServedSpec):
    """A model on a server of llama.cpp, such as a GGUF file."""

    backend: Literal["llama_cpp"] = "llama_cpp"
    """What serves the model."""
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = 1
    """How many requests are under way at once. Each of the server's slots reads the prompt
    separately."""


class OpenAISpec(ServedSpec):
    """A model on any completions server that supports `echo` and log-probabilities.

    Each choice is read with its whole prompt, which costs more than with `vllm` and `llama_cpp`.
    `scoring: generate` needs neither, and with `chat: true` the server may be a chat server.
    """

    backend: Literal["openai"] = "openai"
    """What serves the model."""
    chat: bool = False
    """Whether each prompt is sent to /v1/chat/completions, as one user message; answers can then
    only be generated (`scoring: generate`), or be labels of one token (`top_logprobs`)."""
    top_logprobs: Annotated[int, Field(ge=1, le=20)] | None = None
    """How many of the likeliest next tokens the server is asked for. Choices are then scored by
    what it says of these, so that each must be one token among them, as letters are (`labels:
    letter`). For servers that tell no log-probabilities of a prompt: OpenAI's tell of 5
    (completions) or 20 (`chat: true`)."""

    @property
    def most_told(self) -> int:
        """Of how many tokens at most the server tells, where choices are labels; 0 elsewhere."""
        return self.top_logprobs or 0

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a tokenizer for a server that is sent texts."""
        yield from super().contradictions()
        if self.top_logprobs is not None and self.tokenizer is not None:
            yield (
                ("top_logprobs",),
                "this sends texts as they are, so that nothing uses `tokenizer`; remove one of the "
                "two",
            )


class GgufSpec(ModelSpec):
    """A model in a GGUF file, which llama.cpp runs in this process."""

    name: Name
    """The file (relative to the suite file), or the first part of a split model."""
    backend: Literal["gguf"] = "gguf"
    """What runs the model."""
    tokenizer: Text | None = None
    """The model's tokenizer: a folder (relative to the suite file), or a hub id. The file's own if
    not given."""
    chat: bool = False
    """Whether each prompt is put into the chat template of `tokenizer`, or of the file, as one user
    message."""

    in_arms: ClassVar[tuple[str, ...] | None] = ("chat",)


MODELS = SpecUnion[ModelSpec](
    "backend",
    {
        "transformers": TransformersSpec,
        "vllm": VllmSpec,
        "sglang": SglangSpec,
        "llama_cpp": LlamaCppSpec,
        "openai": OpenAISpec,
        "gguf": GgufSpec,
        "mock": MockSpec,
    },
    ModelSpec,
    default="transformers",
    group=BACKENDS,
    reserved=("recorded",),
)
AnyModel = Annotated[ModelSpec, MODELS.validator]


def kind_of(model: Any) -> type[ModelSpec]:
    """Return the spec of a model, in a suite as it stands; what all have where that is unknown."""
    try:
        return MODELS.kind(model) or ModelSpec
    except ExtensionError:
        return ModelSpec

"""What a suite may say of its models: for each backend keys of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.base import (
    CONTRADICTION,
    Dtype,
    Name,
    NamedModel,
    Quantization,
    Seed,
    Text,
)
from pytest_maxrandom.suite.extensions import BACKENDS, SpecUnion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction


class ModelSpec(NamedModel):
    """A model that is run: what all backends are told of it.

    A backend's own spec is a class beside this one that adds its keys. Where a suite is read, the
    key `backend` chooses among them.
    """

    name: Name
    """What the reports call it, and for most backends where it is."""
    backend: str = "transformers"
    """What runs the model."""

    in_arms: ClassVar[tuple[str, ...] | None] = None
    """The keys that an arm may change; None stands for all that the backend adds."""
    simulated: ClassVar[bool] = False
    """Whether answers are made up: reports say so, no ledger counts them, and the gate fails."""
    remote: ClassVar[bool] = False
    """Whether a server computes it, so that it takes no accelerator of whoever asks."""

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


class TransformersSpec(ModelSpec):
    """A causal language model of Hugging Face transformers, and how it is loaded."""

    name: Name
    """Hub id, or local folder (relative to the suite file)."""
    backend: Literal["transformers"] = "transformers"
    """What runs the model."""
    revision: Text | None = None
    """Branch, tag or commit on the hub."""
    adapter: Text | None = None
    """LoRA adapter of PEFT that is loaded into the model: hub id, or local folder (relative to the
    suite file) with `adapter_config.json` and `adapter_model.safetensors`."""
    quantization: Quantization = "nf4"
    """nf4 = bitsandbytes 4-bit NormalFloat, double quantization, bfloat16 compute; stored = as the
    files are quantized already (GPTQ, AWQ, compressed-tensors, torchao, bitsandbytes)."""
    unverified: bool = False
    """Whether `quantization: stored` may load files in a way whose numbers were never verified,
    such as FP8 or MXFP4; every report repeats it."""
    dtype: Dtype = "auto"
    """Weights that are not quantized, and arithmetic with those of 4 bits: auto is bfloat16 beside
    nf4 and fp4, float16 beside int8, else as stored. On a processor without bfloat16 instructions
    float32 is several times faster; on one with avx512_bf16, 4-bit layers are computed in bfloat16
    whatever is said here, and the report says so."""
    device: Text = "auto"
    """auto (a GPU if there is one), cpu, cuda (a GPU of the first one's kind that is free), cuda:1,
    ..."""
    device_map: Literal["auto", "balanced", "sequential"] | None = None
    """How a model that needs several GPUs is spread over all of them, in place of `device`."""
    trust_remote_code: bool = False
    """Whether code that comes with the model may run on this machine."""
    chat: bool = False
    """Whether a prompt is put into the model's chat template, as one message of the user's."""

    in_arms: ClassVar[tuple[str, ...] | None] = (
        *("revision", "adapter", "quantization", "unverified", "dtype", "chat"),
    )

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
        """Yield one device beside all of them, and a permission for what is not loaded."""
        if self.device_map is not None and self.device != "auto":
            yield (
                ("device_map",),
                "this spreads the model over all GPUs, and `device` names one; remove one of the "
                "two",
            )
        if self.unverified and self.quantization != "stored":
            yield (
                ("unverified",),
                "this is about files that are quantized already, and the suite says "
                f"`quantization: {self.quantization}`; remove it, or write `quantization: stored`",
            )


Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class MockSpec(ModelSpec):
    """A simulated model: it answers by rule, and what it reaches says nothing.

    Reports say that its results are simulated, a ledger and a store of their own keep them apart
    from those of models that are run, and the gate fails.
    """

    name: Name
    """What the reports call it; another name gives other answers."""
    backend: Literal["mock"] = "mock"
    """What runs the model."""
    knows: Share = 0.0
    """The probability that it knows the answer to a question, in whatever order choices stand."""
    prefers: Text | dict[Text, Weight] | list[Weight] | None = None
    """What it says where it does not know: always one label (a choice's text, or A), labels by
    their weights ({"A": 3, "B": 1}), or places as choices are listed, by their weights ([1, 0]: the
    first). If not given, and where nothing that it prefers is offered, all choices are equally
    likely."""
    copies: Share = 0.0
    """The share of its answers that a prompt has in common with all others by copying."""
    seed: Seed = 0
    """Another seed gives other answers."""
    seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """How long it takes for each prompt, which changes no answer: to try what waits, or stops."""

    simulated: ClassVar[bool] = True


def _address(url: str) -> str:
    # What stands in a refusal stands in reports too, so that these do not show what was found.
    if "@" in url:
        raise PydanticCustomError(
            CONTRADICTION,
            "{told}",
            {
                "told": "expected an address without user and password, which a suite must not "
                "hold; a key is named by api_key_env"
            },
        )
    if "?" in url or "#" in url:
        raise PydanticCustomError(
            CONTRADICTION, "{told}", {"told": "expected an address without ? and #"}
        )
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
    """What the reports call it."""
    url: Annotated[str, AfterValidator(_address)]
    """Address of the server, such as http://127.0.0.1:8000."""
    served_model: Text | None = None
    """The name under which the server has it; `name` if not given."""
    api_key_env: Text | None = None
    """Environment variable with the key that the server asks for. It is sent only where the runner
    allows that outside of the repository, by MAXRANDOM_API_KEYS=HOST=VARIABLE."""
    tokenizer: Text | None = None
    """The model's tokenizer: a folder (relative to the suite file), or a hub id. If not given, the
    server is asked for the tokens of each text, where it tells them."""
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8
    """How many requests are under way at once."""
    timeout: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """Seconds that an answer may take, and for which a server that is gone is waited for."""
    chat: bool = False
    """Whether a prompt is put into the chat template of `tokenizer`, as one message of the
    user's."""

    in_arms: ClassVar[tuple[str, ...] | None] = ("url", "served_model", "chat")

    @property
    def served(self) -> str:
        """The name under which the server has it."""
        return self.served_model or self.name

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a chat template that is nowhere."""
        if self.chat and self.tokenizer is None and self.backend != "openai":
            yield (
                ("chat",),
                "the chat template is that of the tokenizer, and none is named; name it by "
                "`tokenizer` (a local folder, or a hub id)",
            )


class VllmSpec(ServedSpec):
    """A model on a server of vLLM, whose prompts share what the server has read once."""

    backend: Literal["vllm"] = "vllm"
    """What serves the model."""


class LlamaCppSpec(ServedSpec):
    """A model on a server of llama.cpp, such as a GGUF file."""

    backend: Literal["llama_cpp"] = "llama_cpp"
    """What serves the model."""
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many requests are under way at once. Each of the server's slots reads the prompt for
    itself."""


class OpenAISpec(ServedSpec):
    """A model on any server of completions that knows `echo` and log-probabilities.

    Each choice is read with its whole prompt, which costs more than `vllm` and `llama_cpp` do. For
    `scoring: generate` neither is needed, and with `chat: true` the server may be one of chats.
    """

    backend: Literal["openai"] = "openai"
    """What serves the model."""
    chat: bool = False
    """Whether a prompt is sent to /v1/chat/completions, as one message of the user's; answers can
    then be generated only (`scoring: generate`)."""


class GgufSpec(ModelSpec):
    """A model in a GGUF file, which llama.cpp runs in this process."""

    name: Name
    """The file (relative to the suite file); of a model that is split, its first part."""
    backend: Literal["gguf"] = "gguf"
    """What runs the model."""
    tokenizer: Text | None = None
    """The model's tokenizer: a folder (relative to the suite file), or a hub id. If not given, the
    file's own."""
    chat: bool = False
    """Whether a prompt is put into the chat template of `tokenizer`, or of the file, as one message
    of the user's."""

    in_arms: ClassVar[tuple[str, ...] | None] = ("chat",)


MODELS = SpecUnion[ModelSpec](
    "backend",
    {
        "transformers": TransformersSpec,
        "vllm": VllmSpec,
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

"""Parts of a suite that contradict each other where arms are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.suite.arms import ArmSpec, ContaminationSpec, things_changed
from pytest_maxrandom.suite.base import FOUR_BITS, Contradiction, Location, as_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.training import TrainSpec

    Arms = Mapping[str, ArmSpec | None]

_OF_PROMPTS = ("instruction", "format", "scoring")
_NO_CHAT = "a classification head reads the text alone, and no chat messages; remove this"
_UNQUANTIZED = "write `quantization: none`"


def contradictions(
    suite: dict[str, Any],
    models: Sequence[ModelSpec | None],
    arms: Arms,
    contamination: ContaminationSpec | None,
) -> Iterator[Contradiction]:
    """Yield where what is said of training contradicts itself, or the rest of the suite.

    Parts of it come in their typed form as well; None stands for one that is wrong by itself.
    """
    given = suite.get("arms")
    said = given if isinstance(given, dict) else {}
    wrong = [
        name
        for name, arm in arms.items()
        if arm and arm.train is None and isinstance(said[name], dict) and "train" in said[name]
    ]
    sound = {name: None if name in wrong else arm for name, arm in arms.items()}
    yield from _of_classifying(suite, sound)
    yield from _of_models(suite, models, sound)
    if contamination is not None:
        yield from _of_contamination(contamination, sound)


def _of_classifying(suite: dict[str, Any], arms: Arms) -> Iterator[Contradiction]:
    """Yield what a classification head cannot be asked, and a head that nothing trains."""
    if suite.get("classify") is None:
        if suite.get("scoring") == "classify":
            yield (
                ("scoring",),
                "a classification head is trained before it is asked; say how by `classify: "
                "{examples: 50}`",
            )
        for name, arm in arms.items():
            if arm and arm.scoring == "classify":
                yield (
                    ("arms", name, "scoring"),
                    "all arms share how they are asked; write `classify` in the suite",
                )
            if arm and arm.classify:
                yield (
                    ("arms", name, "classify"),
                    "all arms share how they are asked; write `classify` in the suite, and here "
                    "what this arm trains otherwise",
                )
        return
    if suite.get("scoring", "classify") != "classify":
        yield (
            ("scoring",),
            "this scores what follows a prompt, and `classify` asks a head that reads the text "
            "alone; remove one of the two",
        )
    yield from _prompts(suite)
    for name, arm in arms.items():
        for key in _OF_PROMPTS:
            if arm and getattr(arm, key) is not None:
                yield (
                    ("arms", name, key),
                    "this is about prompts, and `classify` asks none; remove one of the two",
                )
    if suite.get("shortcuts"):
        yield (
            ("shortcuts",),
            "these ask with blank inputs, and a classification head reads nothing else; remove "
            "one of the two",
        )
    bias = suite.get("label_bias")
    if isinstance(bias, dict) and bias.get("check", "recall") != "recall":
        yield (
            ("label_bias", "check"),
            "this lists the choices in other orders, and a classification head reads none; use "
            "`check: recall`",
        )
    for key in ("interactions", "calibration"):
        if isinstance(bias, dict) and bias.get(key):
            yield (
                ("label_bias", key),
                "this asks with other prompts, and `classify` asks none; remove one of the two",
            )
    if bias is not None and not (
        isinstance(bias, dict) and bias.get("base_rate", "") in ("off", False)
    ):
        yield (
            ("label_bias",),
            "base rates are read after prompts without a question, and `classify` asks none; "
            "write `base_rate: off` there",
        )


def _prompts(suite: dict[str, Any]) -> Iterator[Contradiction]:
    prompts = suite.get("prompts")
    if not isinstance(prompts, dict):
        return
    allowed = {"shots": [0], "count": [1], "budget": as_list(prompts.get("budget"))}
    for key, value in prompts.items():
        if isinstance(key, str) and as_list(value) != allowed.get(key):
            only = {"shots": ", or write 0", "count": ", or write 1"}.get(key, "")
            yield (
                ("prompts", key),
                "`classify` asks no prompts: its head reads the text alone, once (t = 1, 0 "
                f"shots); remove this{only}",
            )


def _of_models(
    suite: dict[str, Any], models: Sequence[ModelSpec | None], arms: Arms
) -> Iterator[Contradiction]:
    """Yield models that cannot be trained as an arm, or the suite, asks."""
    classified = suite.get("classify") is not None
    for index, model in enumerate(models):
        if model is None:
            continue
        trained = {name: arm for name, arm in arms.items() if arm and arm.train}
        if not model.trains and (classified or trained):
            asks = "`classify`" if classified else f"the arm {next(iter(trained))!r}"
            yield (
                ("models", index, "backend"),
                f"`backend: {model.backend}` cannot train a model, which {asks} asks for; use "
                "`backend: transformers`",
            )
            continue
        if classified and getattr(model, "chat", False):
            yield (
                ("models", index, "chat"),
                _NO_CHAT,
            )
        if classified and model.variant not in ("none", "") and not arms:
            yield (
                ("models", index, "quantization"),
                f"`classify` trains all weights, and these are {_stands(model)}; "
                f"{_way_out(model.variant)}",
            )
    if len(models) != 1 or models[0] is None or not models[0].trains:
        return
    for name, arm in arms.items():
        if arm:
            yield from _of_arm(name, arm, models[0], classified=classified)


def _of_arm(
    name: str, arm: ArmSpec, model: ModelSpec, *, classified: bool
) -> Iterator[Contradiction]:
    own: Any = arm.of_model
    variant = own.get("quantization", model.variant)
    said: Location = ("models", 0, "quantization")
    place: Location = ("arms", name, "quantization") if "quantization" in own else said
    if classified and own.get("chat"):
        yield ("arms", name, "chat"), _NO_CHAT
    if classified and variant not in ("none", ""):
        yield (
            place,
            f"`classify` trains all weights, and these are {_stands(model, own)}; "
            f"{_way_out(variant)}",
        )
        return
    if arm.train is None:
        return
    if arm.train.form == "prompt" and own.get("chat", getattr(model, "chat", False)):
        yield (
            ("arms", name, "train", "form"),
            "prompts are trained without the chat template in which they are asked; use "
            "`form: text`, or remove `chat`",
        )
    if arm.train.method == "qlora":
        if classified:
            yield (
                ("arms", name, "train", "method"),
                "`classify` trains all weights after this, which 4 bits do not allow; use "
                "`method: lora` or `full`",
            )
        elif variant not in FOUR_BITS:
            yield (
                place,
                f"`method: qlora` of the arm {name!r} trains on weights of 4 bits, and these are "
                f"{variant or 'none'}; write `quantization: nf4`, or "
                "use `method: lora`",
            )
    elif variant not in ("none", ""):
        yield (
            place,
            f"`method: {arm.train.method}` of the arm {name!r} needs weights that are not "
            f"quantized, and these are {_stands(model, own)}; {_way_out(variant, arm.train)}",
        )


def _stands(model: ModelSpec, changed: Mapping[str, Any] | None = None) -> str:
    """Say how weights are quantized, and that nobody wrote it where nobody did."""
    if "quantization" in (changed or {}):
        return str((changed or {})["quantization"])
    said = "quantization" in model.model_fields_set
    return model.variant if said else f"{model.variant} (the default)"


def _way_out(variant: str, train: TrainSpec | None = None) -> str:
    """Say how weights are had that can be trained."""
    if variant == "stored":
        return "name a model whose files are not quantized, with `quantization: none`"
    if train is None:
        return _UNQUANTIZED
    fewer = "" if variant in FOUR_BITS else "`quantization: nf4` and "
    return f"{_UNQUANTIZED}, or use {fewer}`method: qlora`"


def _of_contamination(spec: ContaminationSpec, arms: Arms) -> Iterator[Contradiction]:
    """Yield arms that differ in more than the texts they are trained on.

    Nothing where none of the three is trained here.
    """
    three = {key: arms.get(getattr(spec, key)) for key in ("base", "extra", "test")}
    base, extra, test = three.values()
    if base is None or extra is None or test is None:
        return
    if not any(arm.train for arm in (base, extra, test)):
        for key, other, text in (("extra", "base", "extra"), ("test", "extra", "scored")):
            name, same = getattr(spec, key), getattr(spec, other)
            if three[key] == three[other] and name != same:
                yield (
                    ("contamination", key),
                    f"the arms {same!r} and {name!r} are the same; train one here, such as "
                    f"`{name}: {{train: {{text: {text}}}}}`, or name the model or adapter that was "
                    "trained elsewhere",
                )
        return
    if changes := things_changed(base):
        yield (
            ("contamination", "base"),
            f"the arm {spec.base!r} changes {' and '.join(changes)}, and extra and test do not; "
            "base shares everything with them but the training: write the arm as `{}`, and what "
            "it changes in the suite",
        )
    for key, arm in (("extra", extra), ("test", test)):
        if arm.train is None:
            yield (
                ("contamination", key),
                f"the arm {getattr(spec, key)!r} is not trained here, and another of the three "
                "is; give it `train`, so that extra and test differ in their texts alone",
            )
    if extra.train is None or test.train is None:
        return
    yield from _texts(spec, extra.train, test.train)
    said = [
        {**train.model_dump(exclude={"text"}), "learning_rate": train.rate}
        for train in (extra.train, test.train)
    ]
    if differ := [key for key in said[0] if said[0][key] != said[1][key]]:
        yield (
            ("contamination",),
            f"the arms {spec.extra!r} and {spec.test!r} differ in `train: "
            f"{{{', '.join(differ)}}}`, so that a bias would have several causes; let them differ "
            "in `text` alone",
        )


def _texts(spec: ContaminationSpec, extra: TrainSpec, test: TrainSpec) -> Iterator[Contradiction]:
    if extra.text == "scored":
        yield (
            ("contamination", "extra"),
            f"the arm {spec.extra!r} is trained on the texts that are scored; expected other "
            "texts, such as `text: extra`",
        )
    if test.text == "extra":
        yield (
            ("contamination", "test"),
            f"the arm {spec.test!r} is trained on other texts than those that are scored; "
            "expected `text: scored`",
        )
    if extra.path is not None and extra.path == test.path:
        yield (
            ("contamination",),
            f"the arms {spec.extra!r} and {spec.test!r} are trained on the same file; expected "
            "other texts in extra than in test",
        )

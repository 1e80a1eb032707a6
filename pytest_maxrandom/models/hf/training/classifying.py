"""Classification heads: trained with all weights on labelled texts, and asked about others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, QuestionError, ScoreError, listed, quoted
from pytest_maxrandom.models.base import Model
from pytest_maxrandom.models.hf import arithmetic
from pytest_maxrandom.models.hf.devices import Processors, peak_of
from pytest_maxrandom.models.hf.loading import CAUSAL, CLASSIFIER, MASKED, Opened, open_model
from pytest_maxrandom.models.hf.training import texts
from pytest_maxrandom.models.hf.training.adapting import (
    check_room,
    found_by,
    how_of,
    merged,
    save,
    widened,
)
from pytest_maxrandom.models.hf.training.fitting import fit, seed_of, seeded
from pytest_maxrandom.models.questions import Answer, Estimate, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.models.training import Trained, Training
    from pytest_maxrandom.suite.models import TransformersSpec

    Tell = Callable[[int, int, float | None], None]

_TOKENS = 4096
"""Of a batch, with padding, unless a user says otherwise."""
_AT_ONCE = 4096
"""Questions that are sorted by length together."""


def train_head(
    spec: TransformersSpec,
    location: str,
    training: Training,
    further: Path | None,
    processors: Processors,
    folder: Path,
    tell: Tell,
) -> Trained:
    """Train a network with a new head on labelled texts, and write it into a folder.

    Parameters
    ----------
    location : str
        Local folder or hub id of the base.
    further : Path, optional
        Folder with what further pretraining made of the base.

    Raises
    ------
    ModelError
        In one sentence.
    """
    settings = training.classify
    assert settings is not None
    seed = seed_of(settings.seed, training.seed)
    head = {
        "num_labels": len(training.labels),
        "id2label": dict(enumerate(training.labels)),
        "label2id": {label: number for number, label in enumerate(training.labels)},
        "problem_type": "single_label_classification",
    }
    with seeded(seed):
        from transformers import DataCollatorWithPadding

        opened = open_model(spec, location, processors, CLASSIFIER, head)
        model, tokenizer = opened.model, opened.tokenizer
        texts.prepare(tokenizer, model.config)
        types = {name: weight.dtype for name, weight in model.named_parameters()}
        widened(model)
        if further is not None:
            _take_over(spec, location, training, further, processors, opened)
        limit = texts.reach(model.config, tokenizer, settings.max_length)
        encoded = texts.encode(tokenizer, [each.text for each in training.labelled], limit)
        rows = [
            {"input_ids": ids, "labels": each.label}
            for ids, each in zip(encoded.ids, training.labelled, strict=True)
        ]
        if not any(encoded.ids):
            raise ModelError(
                f"there is no labelled text to train {spec.name} on; expected at least one"
            )
        how = how_of(
            spec, opened, settings.epochs, settings.learning_rate, settings.batch_size, seed
        )
        check_room(model, types, folder)
        fitted = fit(model, rows, DataCollatorWithPadding(tokenizer), how, tell)
        save(model, types, tokenizer, folder)
    return found_by(fitted, training, how, rows, encoded.cut)


def _take_over(
    spec: TransformersSpec,
    location: str,
    training: Training,
    further: Path,
    processors: Processors,
    opened: Opened,
) -> None:
    """Give a network the weights that further pretraining found, but for those of the heads."""
    settings = training.settings
    assert settings is not None
    auto = CAUSAL if settings.objective == "causal" else MASKED
    if settings.method == "full":
        source = open_model(spec, str(further), processors, auto, beside=opened).model
    else:
        base = open_model(spec, location, processors, auto, beside=opened).model
        source = merged(spec, base, further)
    state = source.base_model.state_dict()
    found = opened.model.base_model.load_state_dict(state, strict=False)
    # A network that predicts masked words has no pooler; the base's own stays.
    lost = [key for key in found.missing_keys if "pooler" not in key]
    if lost or found.unexpected_keys:
        key = min([*lost, *found.unexpected_keys])
        raise ModelError(
            f"{spec.name} cannot be further pretrained and then classify: the two networks differ "
            f"in {key}; use one of the two"
        )


class Classifier(Model):
    """A loaded model with a head; see :class:`pytest_maxrandom.models.base.Model`.

    It answers a question by the log-probabilities of the classes after the question's `context`,
    which is a text of the task. What is longer than `max_length` is cut, as it was in training, and
    the answer says that the text fills the context.

    Parameters
    ----------
    batch_tokens : int, optional
        Tokens that go through the network at once, with padding.
    """

    engine = "plain"
    engine_reason: str | None = "a classification head reads each text whole"

    def __init__(
        self,
        opened: Opened,
        training: Training,
        batch_tokens: int | None = None,
    ) -> None:
        assert training.classify is not None
        self._model = opened.model.eval()
        self._tokenizer = opened.tokenizer
        texts.prepare(self._tokenizer, self._model.config)
        self._places = {label.strip(): number for number, label in enumerate(training.labels)}
        self._input = opened.device
        self.device = ", ".join(opened.places)
        self.arithmetic = arithmetic.found(self._model, training)
        self.dtype = str(arithmetic.computed(self._model)).removeprefix("torch.")
        self.revision = opened.revision
        self.context_length: int | None = texts.reach(
            self._model.config, self._tokenizer, training.classify.max_length
        )
        self._budget = batch_tokens or _TOKENS

    @property
    def batch_tokens(self) -> int:
        """Tokens that go through the network at once, as far as texts are shorter than that."""
        return self._budget

    def peak_memory(self) -> int | None:
        """Return the most bytes in use at any one time, on GPUs or else by this process."""
        return peak_of(self._input)

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse questions about other classes.

        Raises
        ------
        QuestionError
        """
        for question in questions:
            self._columns(question)

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Return what asking takes."""
        asked = list(questions)
        batches = list(self._batches(self._encoded(asked)))
        tokens = sum(len(ids) for batch in batches for ids in batch.values())
        widest = sum(len(batch) * max(map(len, batch.values())) for batch in batches)
        return Estimate(len(asked), widest, tokens, len(batches))

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-probability of each question's classes, in nats.

        Raises
        ------
        QuestionError, ScoreError
        """
        rest = iter(questions)
        answers: list[Answer] = []
        forwarded = nodes = 0
        while part := list(islice(rest, _AT_ONCE)):
            columns = [self._columns(question) for question in part]
            encoded = self._encoded(part)
            scores: dict[int, list[float]] = {}
            for batch in self._batches(encoded):
                scores.update(zip(batch, self._scores(list(batch.values())), strict=True))
                forwarded += len(batch) * max(map(len, batch.values()))
            nodes += sum(map(len, encoded))
            for number, own in enumerate(columns):
                answers.append(
                    Answer(
                        tuple(scores[number][column] for column in own),
                        (1,) * len(own),
                        fills_context=len(encoded[number]) == self.context_length,
                    )
                )
        return Reply(tuple(answers), forwarded, nodes)

    def _columns(self, question: Question) -> list[int]:
        """Return the place of each answer in the head."""
        wanted = [answer.strip() for answer in question.answers]
        if question.generation is not None or not set(wanted) <= set(self._places):
            about = f"example {question.example.id}" if question.example else "a question"
            other = next((text for text in wanted if text not in self._places), wanted[0])
            raise QuestionError(
                f"{about} offers {quoted(other)}, but the classification head knows "
                f"{listed(list(self._places))}; expected these classes, scored and not generated"
            )
        return [self._places[text] for text in wanted]

    def _encoded(self, questions: Sequence[Question]) -> list[list[int]]:
        encoded = texts.encode(
            self._tokenizer,
            [question.context for question in questions],
            self.context_length or 0,
        ).ids
        # A network needs a token to read; nothing stands for a text without one.
        return [ids or [self._tokenizer.pad_token_id] for ids in encoded]

    def _batches(self, encoded: Sequence[list[int]]) -> Iterable[dict[int, list[int]]]:
        """Yield texts by their numbers, longest first, so that memory fails at once."""
        batch: dict[int, list[int]] = {}
        for number in sorted(range(len(encoded)), key=lambda one: -len(encoded[one])):
            width = len(next(iter(batch.values()), encoded[number]))
            if batch and (len(batch) + 1) * width > self._budget:
                yield batch
                batch = {}
            batch[number] = encoded[number]
        if batch:
            yield batch

    def _scores(self, rows: list[list[int]]) -> list[list[float]]:
        """Return log-probabilities of all classes of some texts, in halves if memory needs it."""
        import torch

        from pytest_maxrandom.models.hf.engines.network import is_out_of_memory

        batch = self._tokenizer.pad({"input_ids": rows}, return_tensors="pt").to(self._input)
        try:
            with torch.inference_mode():
                logits = self._model(
                    input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
                ).logits
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if len(rows) == 1:
                raise ScoreError(
                    f"the memory of {self.device} cannot hold one text of {len(rows[0])} tokens; "
                    "use a smaller `max_length`"
                ) from error
            logits = None
        if logits is None:
            half = len(rows) // 2
            self._budget = max(1, self._budget // 2)
            return self._scores(rows[:half]) + self._scores(rows[half:])
        scores = logits.double().log_softmax(-1)
        if not torch.isfinite(scores).all():
            raise ScoreError(
                "the classification head returns values that are not numbers; train it again with "
                "a smaller `learning_rate`"
            )
        return scores.tolist()  # type: ignore[no-any-return]

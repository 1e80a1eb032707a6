"""Sweeps over moved answers, stated answers and control texts give what each text gives alone."""

from __future__ import annotations

import math
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import PromptTooLong
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.studies.label_bias.answers import moved_answers
from pytest_maxrandom.studies.label_bias.interactions import (
    content_free_examples,
    control_examples,
    control_prompt,
    further,
    placements,
)
from pytest_maxrandom.suite.prompts import CounterfactualSpec, PromptsSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet, draw_prompts
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, Sweep, run_sweep
from pytest_maxrandom.tasks.task import Example, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Prompt

    Asked = Sequence[tuple[Prompt, Sequence[Example]]]

CHOICES = [("apple", "stone", "sun"), ("Yes", "No", "True", "12"), (" river", " dog, lazy", " é")]
EXAMPLES = tuple(
    Example(f"q{i}", f"Which of these, {i}?", CHOICES[i % 3], (i % 2,)) for i in range(9)
)
TASK = Task("fruits", EXAMPLES)
BEST = CounterfactualSpec()


@cache
def _tokenizer() -> Any:
    return tiny.sentencepiece_tokenizer()


@cache
def _llama() -> Any:
    return tiny.causal_model("llama", 700)


@cache
def _model(engine: str = "auto") -> CausalModel:
    return CausalModel(_llama(), _tokenizer(), "cpu", engine=engine)


def _prompts(labels: str = "parenthesized", shots: int = 2) -> PromptSet:
    spec = PromptsSpec.model_validate(
        {"shots": [shots], "count": 3, "demonstrations": "leave_out",
         "formats": [{"labels": labels}]}
    )  # fmt: skip
    return draw_prompts(TASK, EXAMPLES, spec, shots)


def _natural(prompts: PromptSet) -> list[tuple[Prompt, list[Example]]]:
    return [(prompt, prompts.scored(prompt)) for prompt in prompts.prompts]


def _left(prompts: PromptSet) -> list[tuple[Prompt, list[Example]]]:
    return [
        (prompt, further(one for example in examples for one in placements(example)))
        for prompt, examples in _natural(prompts)
    ]


def _run(work: Asked, scoring: Scoring, engine: str = "auto") -> Sweep:
    return run_sweep(
        jobs_of(work, scoring), LocalExecutor(lambda: _model(engine)), lambda *call: None
    )


def _alone(before: str, after: str) -> float:
    """Score the text `after` in one forward pass of the model itself."""
    import torch

    encoded = _tokenizer()(before + after, return_offsets_mapping=True)
    ends = [end for _, end in encoded.offset_mapping]
    start = next(i for i, end in enumerate(ends) if end > len(before.rstrip(" ")))
    ids = torch.tensor(encoded.input_ids)
    with torch.inference_mode():
        log_probabilities = _llama()(ids[None]).logits[0].double().log_softmax(-1)
    return sum(float(log_probabilities[i - 1, ids[i]]) for i in range(start, len(ids)))


@pytest.mark.parametrize("labels", ["text", "letter", "parenthesized", "number"])
@pytest.mark.parametrize("shots", [0, 2])
def test_stated_answers_are_compared_by_the_continuation_that_they_share(
    labels: str, shots: int
) -> None:
    prompts = _prompts(labels, shots).asked(BEST)
    for one in _run(_natural(prompts), "counterfactual").predictions:
        if shots:
            assert one.prompt.text.count(" is the best\n") == 2
        for number, example in enumerate(one.examples):
            context = one.prompt.text + one.prompt.format.question(example)
            alone = [
                _alone(f"{context}{answer} is the", " best")
                for answer in one.prompt.format.answers(example)
            ]
            assert one.log_likelihoods[number] == pytest.approx(alone, abs=1e-4)
            assert len(set(one.tokens[number])) == 1
            assert one.chosen[number] == alone.index(max(alone))


def test_statements_tell_the_choices_apart() -> None:
    """Else the test above would compare equal numbers."""
    (one, *_) = _run(_natural(_prompts().asked(BEST)), "counterfactual").predictions
    assert all(min(b - a for a, b in zip(sorted(row), sorted(row)[1:], strict=False)) > 1e-3
               for row in one.log_likelihoods)  # fmt: skip


@pytest.mark.parametrize("labels", ["text", "parenthesized"])
def test_moved_answers_are_scored_as_their_texts_read(labels: str) -> None:
    for one in _run(_left(_prompts(labels)), "sum_logprob").predictions:
        for number, example in enumerate(one.examples):
            context = one.prompt.text + one.prompt.format.question(example)
            alone = [_alone(context, answer) for answer in one.prompt.format.answers(example)]
            assert one.log_likelihoods[number] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("engine", ["packed", "rows", "plain"])
def test_every_engine_gives_the_same(engine: str) -> None:
    prompts = _prompts()
    works: list[tuple[Asked, Scoring]] = [
        (_left(prompts), "sum_logprob"),
        (_natural(prompts.asked(BEST)), "counterfactual"),
        (_left(prompts.asked(BEST)), "counterfactual"),
    ]
    for work, scoring in works:
        found = _run(work, scoring, engine)
        assert found.engine.engine == engine
        for one, other in zip(found.predictions, _run(work, scoring).predictions, strict=True):
            assert one.chosen == other.chosen
            for row, expected in zip(one.log_likelihoods, other.log_likelihoods, strict=True):
                assert row == pytest.approx(expected, abs=1e-4)


def _nodes(texts: list[str]) -> int:
    ids = [tuple(_tokenizer()(text).input_ids[:-1]) for text in texts]
    return len({one[:end] for one in ids for end in range(1, len(one) + 1)})


def _texts(work: Asked) -> list[list[str]]:
    found = []
    for prompt, examples in work:
        after = prompt.format.counterfactual
        rest = after.statement + after.continuation if after else ""
        found.append(
            [
                prompt.context(example) + answer + rest
                for example in examples
                for answer in prompt.format.answers(example)
            ]
        )
    return found


@pytest.mark.parametrize("interaction", [None, BEST])
def test_what_texts_share_goes_through_the_model_once(
    interaction: CounterfactualSpec | None,
) -> None:
    scoring: Scoring = "counterfactual" if interaction else "sum_logprob"
    prompts = _prompts().asked(interaction)
    for work in (_natural(prompts), _left(prompts)):
        cost = _run(work, scoring).engine
        assert cost.trie_nodes == sum(_nodes(texts) for texts in _texts(work))
        assert cost.tokens_forwarded == cost.trie_nodes
    # Placement by placement, the demonstrations and questions would be repeated.
    apart = 0
    for prompt, examples in _left(prompts):
        for _ in range(3):
            one_each = {example.id: example for example in examples}
            examples = [example for example in examples if example not in one_each.values()]
            if one_each:
                cost = _run([(prompt, list(one_each.values()))], scoring).engine
                apart += cost.tokens_forwarded
    assert _run(_left(prompts), scoring).engine.tokens_forwarded < 0.75 * apart


def test_natural_and_moved_presentations_join_to_one_matrix_of_labels() -> None:
    prompts = _prompts()
    sweep, extra = (_run(work, "sum_logprob") for work in (_natural(prompts), _left(prompts)))
    everywhere = [one for example in EXAMPLES for one in placements(example)]
    labels = label(everywhere, by_place=True)
    natural = label(EXAMPLES, by_place=True)
    moved = moved_answers(natural, 4, sweep.predictions, extra.predictions)
    shown_at = np.arange(4) < np.array(natural.choices)[:, None]
    answers = moved[:, shown_at].tolist()
    for row, one, other in zip(answers, sweep.predictions, extra.predictions, strict=True):
        shown = {example.id for example in one.prompt.demonstrations}
        scored = dict(zip(one.examples + other.examples, one.chosen + other.chosen, strict=True))
        for code, example in zip(row, everywhere, strict=True):
            if example.id in shown:
                assert code == NOT_EVALUATED
            else:
                choice = scored[example]
                assert choice is not None
                answer = one.prompt.format.answers(example)[choice]
                assert answer == f"({'ABCD'[code]})"
        right = sum(c in gold for c, gold in zip(row, labels.gold, strict=True))
        assert right == one.correct + other.correct


def _never() -> Model:
    raise AssertionError("the model was loaded")


def test_nothing_is_scored_twice_and_natural_presentations_are_the_claims_own(
    tmp_path: Path,
) -> None:
    prompts = _prompts("text", 0)
    labels = label(EXAMPLES)
    lettered = _prompts("letter", 2)
    works: list[tuple[Asked, Scoring]] = [
        (_natural(prompts), "mean_logprob"),
        (_left(prompts), "mean_logprob"),
        (_natural(prompts.asked(BEST)), "counterfactual"),
        (_left(prompts.asked(BEST)), "counterfactual"),
        (
            [(control_prompt(p.format), control_examples(p.format, labels))
             for p in lettered.prompts[:1]],
            "sum_logprob",
        ),
        (
            [(p, content_free_examples(p.format, labels)) for p in lettered.prompts],
            "mean_logprob",
        ),
    ]  # fmt: skip
    found = []
    with closing(Store(tmp_path / "results.db")) as store:
        for work, scoring in works:
            sweep = run_sweep(
                jobs_of(work, scoring),
                LocalExecutor(_model),
                lambda *call: None,
                cache=Cache(store, "llama", _model().arithmetic),
            )
            assert sweep.engine.reused == 0
            found.append(sweep.predictions)
    again = [[one for one in placements(example) if one.order is None] for example in EXAMPLES]
    prompt = prompts.prompts[0]
    works.append(([(prompt, [one for (one,) in again])], "mean_logprob"))
    with closing(Store(tmp_path / "results.db")) as store:
        for (work, scoring), before in zip(works, [*found, found[0]], strict=True):
            sweep = run_sweep(
                jobs_of(work, scoring),
                LocalExecutor(_never),
                lambda *call: None,
                cache=Cache(store, "llama", _model().arithmetic),
            )
            assert sweep.predictions == before


def test_control_texts_and_content_free_inputs_are_scored_as_they_read() -> None:
    prompts = _prompts("letter")
    labels = label(EXAMPLES)
    form = prompts.prompts[0].format
    works: list[Asked] = [
        [(control_prompt(form), control_examples(form, labels))],
        [(prompt, content_free_examples(prompt.format, labels)) for prompt in prompts.prompts],
    ]
    for work in works:
        for one in _run(work, "sum_logprob").predictions:
            for row, example in zip(one.log_likelihoods, one.examples, strict=True):
                words = "ABCD"[: len(row)]
                alone = [_alone(one.prompt.context(example), word) for word in words]
                assert row == pytest.approx(alone, abs=1e-4)
                assert 0 < sum(map(math.exp, row)) < 1


def test_prompts_and_scoring_of_different_interactions_are_refused() -> None:
    prompts = _prompts()
    wrong: list[tuple[PromptSet, Scoring]] = [
        (prompts, "counterfactual"),
        (prompts.asked(BEST), "sum_logprob"),
    ]
    for asked, scoring in wrong:
        with pytest.raises(ValueError, match="the prompts are not written for the scoring"):
            _run(_natural(asked), scoring)


def test_the_statement_counts_for_the_length_of_the_text() -> None:
    (work,) = [_natural(_prompts(shots=0).asked(CounterfactualSpec(statement=" is the" * 30)))]
    longest = max(
        len(_tokenizer()(text).input_ids) for (texts,) in [_texts(work)] for text in texts
    )
    told: list[int] = []

    def limited(length: int) -> CausalModel:
        tokenizer = tiny.sentencepiece_tokenizer()
        tokenizer.model_max_length = length
        return CausalModel(_llama(), tokenizer, "cpu")

    def run(length: int) -> Sweep:
        return run_sweep(
            jobs_of(work, "counterfactual"),
            LocalExecutor(lambda: limited(length)),
            lambda *call: told.append(call[0]),
        )

    assert run(longest).predictions == _run(work, "counterfactual").predictions
    told.clear()
    with pytest.raises(PromptTooLong, match=f"has {longest} tokens"):
        run(longest - 1)
    assert told == []

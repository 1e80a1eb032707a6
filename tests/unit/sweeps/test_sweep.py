"""A sweep scores every prompt on its examples, and says what it did."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import PromptTooLong, SweepError
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.predictions import predict
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet, draw_prompts
from pytest_maxrandom.sweeps.sweep import Sweep, run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.models.requests import Likelihoods, Request
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Prompt

CHOICES = [("apple", "stone"), ("Yes", "No", "True"), (" river", " dog, lazy fox", " é", "12")]
EXAMPLES = tuple(
    Example(f"q{i}", f"Which of these, {i}?", CHOICES[i % 3], (i % len(CHOICES[i % 3]),))
    for i in range(12)
)
TASK = Task("fruits", EXAMPLES, Layout(output_prefix="\nA: "))


@cache
def _tokenizer() -> Any:
    return tiny.sentencepiece_tokenizer()


@cache
def _model() -> tuple[CausalModel, Any]:
    model = tiny.causal_model("llama", 700)
    return CausalModel(model, _tokenizer(), "cpu"), model


def _prompts(demonstrations: str = "leave_out", **said: Any) -> PromptSet:
    spec = PromptsSpec.model_validate(
        {"shots": [2], "count": 5, "demonstrations": demonstrations, **said}
    )
    validation = EXAMPLES if demonstrations == "leave_out" else EXAMPLES[:7]
    return draw_prompts(TASK, validation, spec, spec.shots[0])


def _silent(done: int, total: int, computed: int) -> None:
    pass


def _work(prompts: PromptSet) -> list[tuple[Prompt, list[Example]]]:
    return [(prompt, prompts.scored(prompt)) for prompt in prompts.prompts]


def _run(prompts: PromptSet, scoring: Scoring = "mean_logprob") -> Sweep:
    return run_sweep(jobs_of(_work(prompts), scoring), LocalExecutor(lambda: _model()[0]), _silent)


def _alone(prompt: Prompt, example: Example) -> list[tuple[float, int]]:
    """Score the choices one by one: log-likelihood and tokens beyond the context."""
    import torch

    model, tokenizer = _model()[1], _tokenizer()
    context = prompt.context(example)
    found = []
    for choice in prompt.format.answers(example):
        encoded = tokenizer(context + choice, return_offsets_mapping=True)
        ends = [end for _, end in encoded.offset_mapping]
        start = next(i for i, end in enumerate(ends) if end > len(context.rstrip(" ")))
        ids = torch.tensor(encoded.input_ids)
        with torch.inference_mode():
            log_probabilities = model(ids[None]).logits[0].double().log_softmax(-1)
        values = [float(log_probabilities[i - 1, ids[i]]) for i in range(start, len(ids))]
        found.append((sum(values), len(values)))
    return found


@pytest.mark.parametrize("demonstrations", ["leave_out", "outside"])
def test_every_prompt_is_scored_on_its_own_examples(demonstrations: str) -> None:
    prompts = _prompts(demonstrations)
    found = _run(prompts).predictions
    assert [one.prompt for one in found] == list(prompts.prompts)
    for one in found:
        shown = {example.id for example in one.prompt.demonstrations}
        left = [e for e in prompts.validation if e.id not in shown]
        assert list(one.examples) == left
        assert len(left) == prompts.n == (10 if demonstrations == "leave_out" else 7)
        for index, example in enumerate(one.examples):
            alone = _alone(one.prompt, example)
            assert one.log_likelihoods[index] == pytest.approx([s for s, _ in alone], abs=1e-4)
            assert list(one.tokens[index]) == [tokens for _, tokens in alone]


def _best(values: Iterable[float]) -> int:
    listed = list(values)
    return listed.index(max(listed))


@pytest.mark.parametrize("scoring", ["mean_logprob", "sum_logprob", "char_logprob"])
def test_the_answer_is_the_choice_with_the_highest_score(scoring: Scoring) -> None:
    for one in _run(_prompts(), scoring).predictions:
        expected = []
        for example in one.examples:
            alone = _alone(one.prompt, example)
            lengths = {
                "mean_logprob": [tokens for _, tokens in alone],
                "sum_logprob": [1 for _ in alone],
                "char_logprob": [len(choice) for choice in example.choices],
            }[scoring]
            expected.append(_best(s / n for (s, _), n in zip(alone, lengths, strict=True)))
        assert list(one.chosen) == expected
        right = [c in e.right for c, e in zip(expected, one.examples, strict=True)]
        assert one.correct == sum(right)
        assert one.ties == 0


def test_the_three_kinds_of_score_choose_differently() -> None:
    """Else the test above could not tell them apart."""
    kinds: list[Scoring] = ["mean_logprob", "sum_logprob", "char_logprob"]
    chosen = {tuple(p.chosen for p in _run(_prompts(), kind).predictions) for kind in kinds}
    assert len(chosen) == 3


def test_equal_scores_are_decided_by_lot_and_counted() -> None:
    prompt = _prompts().prompts[0]
    examples = [Example(f"e{i}", "?", ("a", "b", "c"), (0,)) for i in range(600)]
    rows = [[Answer((-1.0,), (1,)), Answer((-2.0,), (2,)), Answer((-3.0,), (1,))]] * 600
    found = predict(prompt, examples, rows, "mean_logprob")
    assert found.ties == 600
    assert found.chosen == predict(prompt, examples, rows, "mean_logprob").chosen
    assert set(found.chosen) == {0, 1}
    assert 240 < found.chosen.count(0) < 360  # beyond with a probability of 1e-6


def test_choices_with_the_same_text_tie() -> None:
    twins = Task("twins", (Example("q", "Which?", ("Yes", "Yes"), (0,)), *EXAMPLES))
    spec = PromptsSpec(shots=[0], count=1)
    prompts = draw_prompts(twins, twins.examples[:1], spec, 0)
    (found,) = _run(prompts).predictions
    assert found.ties == 1
    assert found.log_likelihoods[0][0] == found.log_likelihoods[0][1]


def test_the_engine_counts_requests_and_tokens() -> None:
    prompts = _prompts()
    engine = _run(prompts).engine
    assert engine.requests == sum(
        len(e.choices) for p in prompts.prompts for e in prompts.scored(p)
    )
    inner = {
        tuple(_tokenizer()(p.context(e) + choice).input_ids[:-1])
        for p in prompts.prompts
        for e in prompts.scored(p)
        for choice in p.format.answers(e)
    }
    nodes = sum(
        len({ids[:end] for ids in of_prompt for end in range(1, len(ids) + 1)})
        for of_prompt in (
            [
                tuple(_tokenizer()(p.context(e) + choice).input_ids[:-1])
                for e in prompts.scored(p)
                for choice in p.format.answers(e)
            ]
            for p in prompts.prompts
        )
    )
    assert engine.trie_nodes == nodes
    assert nodes <= engine.tokens_forwarded <= 1.5 * sum(map(len, inner))
    assert engine.reused == 0
    assert engine.peak_memory is not None
    assert 10**7 < engine.peak_memory < 10**12
    assert engine.seconds > 0
    assert (engine.device, engine.dtype) == ("cpu", "float32")


def test_progress_is_told_before_the_first_prompt_and_after_each() -> None:
    calls: list[tuple[int, int, int]] = []
    run_sweep(
        jobs_of(_work(_prompts()), "mean_logprob"),
        LocalExecutor(lambda: _model()[0]),
        lambda *call: calls.append(call),
    )
    assert calls == [(done, 5, done) for done in range(6)]


def test_the_same_suite_gives_bitwise_equal_predictions() -> None:
    assert _run(_prompts()).predictions == _run(_prompts()).predictions


def test_an_interruption_leaves_the_model_as_it_was() -> None:
    before = _run(_prompts()).predictions
    passes = iter(range(100))

    def interrupt(module: Any, inputs: Any) -> None:
        if next(passes) == 3:
            raise KeyboardInterrupt

    hook = _model()[1].model.layers[1].register_forward_pre_hook(interrupt)
    calls: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        run_sweep(
            jobs_of(_work(_prompts()), "mean_logprob"),
            LocalExecutor(lambda: _model()[0]),
            lambda done, *_: calls.append(done),
        )
    hook.remove()
    assert 0 < max(calls) < 5
    assert _run(_prompts()).predictions == before


def _length(prompts: PromptSet) -> dict[tuple[int, str], int]:
    """Return the tokens of each prompt (numbered from 1) with each example's longest choice."""
    tokenizer = _tokenizer()
    return {
        (number, e.id): max(
            len(tokenizer(p.context(e) + choice).input_ids) for choice in p.format.answers(e)
        )
        for number, p in enumerate(prompts.prompts, 1)
        for e in prompts.scored(p)
    }


def _with_context(length: int) -> CausalModel:
    tokenizer = tiny.sentencepiece_tokenizer()
    tokenizer.model_max_length = length
    return CausalModel(_model()[1], tokenizer, "cpu")


def test_a_prompt_that_fills_the_context_is_scored() -> None:
    prompts = _prompts()
    lengths = list(_length(prompts).values())
    exact = _with_context(max(lengths))
    sweep = run_sweep(
        jobs_of(_work(prompts), "mean_logprob"), LocalExecutor(lambda: exact), _silent
    )
    assert sweep.predictions == _run(prompts).predictions
    assert sweep.full_texts == lengths.count(max(lengths)) > 0
    assert _run(prompts).full_texts == 0


def test_one_token_beyond_the_context_is_an_error_before_anything_is_scored() -> None:
    prompts = _prompts()
    lengths = _length(prompts)
    longest = max(lengths.values())
    number, name = next(place for place, length in lengths.items() if length == longest)
    told: list[int] = []
    with pytest.raises(PromptTooLong) as caught:
        run_sweep(
            jobs_of(_work(prompts), "mean_logprob"),
            LocalExecutor(lambda: _with_context(longest - 1)),
            lambda *call: told.append(call[0]),
        )
    assert told == []
    digest = prompts.prompts[number - 1].digest[:8]
    assert str(caught.value) == (
        f"prompt {number} ({digest}) with example {name} has {longest} tokens, but the model's "
        f"context (`model_max_length` of its tokenizer) holds {longest - 1}; use fewer shots, "
        "shorter demonstrations or another model (text is never cut)"
    )


def test_the_text_with_most_tokens_need_not_be_the_one_with_most_characters() -> None:
    long = Example("long", "Which statement is sarcastic? " * 4, ("Yes", "No"), (0,))
    rare = Example("rare", "是" * 60, ("Yes", "No"), (0,))
    task = Task("scripts", (long, rare))
    prompts = draw_prompts(task, task.examples, PromptsSpec(shots=[0], count=1), 0)
    lengths = _length(prompts)
    assert lengths[1, "rare"] > lengths[1, "long"] + 1
    told: list[int] = []
    with pytest.raises(PromptTooLong, match="with example rare has"):
        run_sweep(
            jobs_of(_work(prompts), "mean_logprob"),
            LocalExecutor(lambda: _with_context(lengths[1, "rare"] - 1)),
            lambda *call: told.append(call[0]),
        )
    assert told == []


def test_a_question_without_any_text_needs_a_tokenizer_with_a_beginning() -> None:
    empty = Layout(input_prefix="", output_prefix="", append_choices=False)
    task = Task("bare", (Example("q", "", ("Yes", "No"), (0,)),), empty)
    prompts = draw_prompts(task, task.examples, PromptsSpec(shots=[0], count=1), 0)
    tokenizer = tiny.byte_level_tokenizer()

    def load() -> CausalModel:
        return CausalModel(_model()[1], tokenizer, "cpu")

    sweep = run_sweep(jobs_of(_work(prompts), "mean_logprob"), LocalExecutor(load), _silent)
    assert sweep.engine.requests == 2
    tokenizer.eos_token = None
    with pytest.raises(SweepError) as caught:
        run_sweep(jobs_of(_work(prompts), "mean_logprob"), LocalExecutor(load), _silent)
    assert str(caught.value) == (
        f"prompt 1 ({prompts.prompts[0].digest[:8]}): there is no token before the answer; give "
        "the task an instruction, an input or an output prefix"
    )


def test_more_than_a_thousand_examples_are_scored_a_thousand_at_a_time() -> None:
    many = tuple(
        Example(f"q{i}", f"Which, {i}?", CHOICES[i % 3], (i % len(CHOICES[i % 3]),))
        for i in range(1001)
    )
    task = Task("many", many, Layout(output_prefix="\nA: "))
    prompts = draw_prompts(task, many, PromptsSpec(shots=[0], count=1), 0)
    found = _run(prompts).predictions[0]
    assert len(found.chosen) == 1001
    for index in (0, 999, 1000):
        alone = _alone(found.prompt, many[index])
        assert found.log_likelihoods[index] == pytest.approx([s for s, _ in alone], abs=1e-4)


def test_the_paper_scores_as_many_tokens_as_the_answer_has_alone() -> None:
    for one in _run(_prompts(), "paper").predictions:
        for example, tokens in zip(one.examples, one.tokens, strict=True):
            alone = [len(_tokenizer()(c).input_ids) for c in one.prompt.format.answers(example)]
            assert list(tokens) == alone


def test_the_closest_call_is_the_smallest_margin_of_all_answers() -> None:
    sweep = _run(_prompts())
    gaps = []
    for one in sweep.predictions:
        for values, tokens in zip(one.log_likelihoods, one.tokens, strict=True):
            means = sorted(v / n for v, n in zip(values, tokens, strict=True))
            gaps.append(means[-1] - means[-2])
    assert sweep.engine.closest == min(gaps)


def test_no_call_of_the_model_grows_with_the_number_of_examples() -> None:
    """10,000 examples go through it 1,000 at a time, and each comes out once, in its place."""
    examples = tuple(Example(f"q{i}", str(i % 50), ("Yes", "No"), (i % 2,)) for i in range(10_000))
    task = Task("many", examples, Layout(input_prefix="", output_prefix=":", append_choices=False))
    (prompt,) = draw_prompts(task, examples, PromptsSpec(shots=[0]), 0).prompts
    sizes = []

    class Counting(CausalModel):
        def score(self, requests: Sequence[Request]) -> Likelihoods:
            sizes.append(len(requests))
            return super().score(requests)

    counting = Counting(_model()[1], _tokenizer(), "cpu")
    sweep = run_sweep(
        jobs_of([(prompt, examples)], "sum_logprob"), LocalExecutor(lambda: counting), _silent
    )
    assert sum(sizes) == 20_000
    assert max(sizes) == 2_000
    (predictions,) = sweep.predictions
    few = run_sweep(
        jobs_of([(prompt, examples[:50])], "sum_logprob"),
        LocalExecutor(lambda: _model()[0]),
        _silent,
    )
    (expected,) = few.predictions
    for place in (0, 49, 50, 999, 1000, 5025, 9_999):
        assert predictions.log_likelihoods[place] == pytest.approx(
            expected.log_likelihoods[place % 50], abs=1e-4
        )

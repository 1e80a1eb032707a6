"""DSPy's own optimizers: what they score is what the ledger counts."""

from __future__ import annotations

import itertools
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_maxrandom import search
from pytest_maxrandom.errors import SearchError
from tests.searched import lines, write_suite
from tests.unit.searches.test_killed import MOMENTS, run

# Warnings are those of other packages, and to import DSPy alone takes some four seconds.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def dspy() -> Any:
    """Import it where it is used only: that takes seconds in each process."""
    return pytest.importorskip("dspy")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two shots; 15 examples, each of which DSPy's own evaluation takes its time for."""
    monkeypatch.chdir(tmp_path)
    prompts = "shots: 2, count: 3"
    return write_suite(tmp_path / "eval_suites", prompts, examples=50, validation=15)


def proposing() -> Any:
    """Return a language model that proposes another instruction each time, whatever it is asked."""
    import dspy

    number = itertools.count()

    class Proposer(dspy.BaseLM):  # type: ignore[misc]
        def forward(self, prompt: Any = None, messages: Any = None, **given: Any) -> Any:
            raise NotImplementedError

        def __call__(self, prompt: Any = None, messages: Any = None, **given: Any) -> list[str]:
            text = f"Answer well, in the way {next(number)}."
            fields = ("proposed_instruction", "observations", "summary", "program_description",
                      "module_description", "new_instruction", "improved_instruction")  # fmt: skip
            said = "".join(f"[[ ## {name} ## ]]\n{text}\n\n" for name in fields)
            return [f"{said}[[ ## completed ## ]]\n```\n{text}\n```"]

    return Proposer("proposer")


@pytest.fixture
def proposer(dspy: Any) -> Any:
    """A language model that proposes."""
    return proposing()


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, tuple[str, ...]]]:
    """Which programs validation examples were put through, seen from DSPy's side."""
    from pytest_maxrandom.searches.dspy import Task, _Ask

    seen: set[tuple[str, tuple[str, ...]]] = set()
    forward = _Ask.forward

    def watched(self: Any, **given: Any) -> Any:
        task: Task = self.task
        if given["question"] in {each.question for each in task.valset}:
            demos = tuple(dict.fromkeys(demo["question"] for demo in self.demos))
            seen.add((self.signature.instructions, demos))
        return forward(self, **given)

    monkeypatch.setattr(_Ask, "forward", watched)
    return seen


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tasks of the demo, with a mock model, two shots and a test set."""
    monkeypatch.chdir(tmp_path)
    there = Path(__file__).parents[3] / "eval_suites" / "demo"
    shutil.copytree(there / "data", tmp_path / "eval_suites" / "data")
    content = yaml.safe_load((there / "demo.yaml").read_text())
    for task in content["tasks"]:
        task.pop("xfail", None)
        task["validation"]["max_examples"] = 30
        task["test"] = {"fraction": 0.3}
    content = {
        "models": [{"name": "knows", "backend": "mock", "knows": 0.5}],
        "tasks": content["tasks"],
        "prompts": {"shots": 2, "count": 3},
    }
    path = tmp_path / "eval_suites" / "demo.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


OPTIMIZERS = {
    "random search": lambda dspy, task, proposer: dspy.BootstrapFewShotWithRandomSearch(
        metric=task.metric,
        max_bootstrapped_demos=2,
        max_labeled_demos=2,
        num_candidate_programs=3,
        num_threads=2,
    ).compile(task.program, trainset=task.trainset, valset=task.valset),
    "MIPROv2": lambda dspy, task, proposer: dspy.MIPROv2(
        metric=task.metric,
        auto=None,
        num_candidates=3,
        max_bootstrapped_demos=2,
        max_labeled_demos=2,
        num_threads=2,
        seed=1,
    ).compile(
        task.program,
        trainset=task.trainset,
        valset=task.valset,
        num_trials=5,
        minibatch=False,
    ),
    # What GEPA reflects on are examples of the pool, so it needs to learn no answers of others.
    "GEPA": lambda dspy, task, proposer: dspy.GEPA(
        metric=task.metric,
        max_metric_calls=120,
        reflection_lm=proposer,
        reflection_minibatch_size=5,
        num_threads=1,
        seed=1,
    ).compile(task.program, trainset=task.trainset, valset=task.valset),
}


@pytest.mark.parametrize(("task", "feedback"), [("swapped_topic", "score"), ("kind_of", "accept")])
def test_miprov2_is_counted(
    dspy: Any, demo: Path, proposer: Any, scored: set[Any], task: str, feedback: Any
) -> None:
    from pytest_maxrandom.searches.dspy import UNTOLD, Task

    with (
        search(demo, task=task, feedback=feedback, by="MIPROv2") as tries,
        dspy.context(lm=proposer),
    ):
        given = Task(tries)
        best = OPTIMIZERS["MIPROv2"](dspy, given, proposer)
        assert best(question=given.valset[0].question).answer == UNTOLD
        # Nothing of a validation example reaches the optimizer, not even its text.
        assert all(set(each.keys()) == {"question"} for each in given.valset)
        assert not {each.question for each in given.valset} & {
            each.input for each in tries._tried.validation
        }
        record = tries.verdict()
        prompts = {_prompt(given, instruction, demos) for instruction, demos in scored}
    told = {row["prompt"] for row in lines(demo, "feedback")}
    assert told == prompts == {row["prompt"] for row in lines(demo, "prompt")}
    assert 1 < len(told) == record.t
    assert record.searched is not None
    assert [each.by for each in record.searched.searches] == ["MIPROv2"]


def test_gepa_learns_answers_and_is_judged_by_a_test_set(
    dspy: Any, demo: Path, proposer: Any, scored: set[Any]
) -> None:
    from pytest_maxrandom.searches.dspy import Task

    with (
        search(demo, task="digit_sum", feedback="answers", by="GEPA") as tries,
        dspy.context(lm=proposer),
    ):
        task = Task(tries)
        OPTIMIZERS["GEPA"](dspy, task, proposer)
        record = tries.verdict()
        prompts = {_prompt(task, instruction, demos) for instruction, demos in scored}
        opened = tries.open_test()
    told = {row["prompt"] for row in lines(demo, "feedback")}
    assert told == prompts
    assert 1 < len(told) == record.t
    assert (record.passed, record.p_max) == (False, None)
    assert opened.test is not None
    assert opened.passed == (opened.test.p is not None and opened.test.p <= 0.05)


@pytest.mark.parametrize("feedback", ["accept", "improved"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers_return_the_best_of_what_they_tried(
    dspy: Any, suite: Path, proposer: Any, optimizer: str, feedback: Any
) -> None:
    from pytest_maxrandom.searches.dspy import Task

    incumbent = "incumbent: {instruction: 'Old. ', demonstrations: [e0, e1]}\n"
    suite.write_text(suite.read_text() + incumbent + "assert: {better_than: incumbent}\n")
    for round_ in range(2):  # an optimizer that is run again meets the same replies
        with (
            search(suite, model="knows", feedback=feedback, budget=8, by=optimizer) as tries,
            dspy.context(lm=proposer),
        ):
            assert tries.t == 0 if not round_ else tries.t > 1
            task = Task(tries)
            best = OPTIMIZERS[optimizer](dspy, task, proposer)
            own = task.prompt(best.ask.signature.instructions, best.ask.demos)
            told = tries._tried.told
            record = tries.verdict()
        assert 1 < len(told) <= 8
        assert record.best_prompt is not None
        if not round_:
            assert own.digest == record.best_prompt.digest
            assert record.incumbent_p is not None  # later no result on 15 examples can pass
    assert {row["feedback"] for row in lines(suite, "feedback")} == {feedback}
    shown = [row for row in lines(suite, "prompt") if row["correct"] is not None]
    assert {row["prompt"] for row in shown} <= {row["prompt"] for row in lines(suite, "feedback")}
    assert len(shown) <= 2  # what the verdicts told


KILLED = """
import dspy
from pytest_maxrandom import search
from pytest_maxrandom.searches.dspy import Task
from tests.unit.searches.test_dspy import OPTIMIZERS, proposing
proposer = proposing()
with (
    search({suite!r}, model="knows", feedback={feedback!r}, budget=8, by="killed") as tries,
    dspy.context(lm=proposer),
):
    task = Task(tries)
    best = OPTIMIZERS[OPTIMIZER](dspy, task, proposer)
    own = task.prompt(best.ask.signature.instructions, best.ask.demos)
    print(tries.t, own.digest, tries.verdict().best_prompt.digest)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_optimizer_that_is_killed_goes_on(suite: Path, optimizer: str) -> None:
    program = KILLED.replace("[OPTIMIZER]", f"[{optimizer!r}]")
    run(suite, program, "accept", MOMENTS["stored, without a reply"])
    assert len(lines(suite, "prompt")) == 3  # the third was counted, and its reply was not given
    before = lines(suite, "feedback")
    assert len(before) == 2
    *_, said = run(suite, program, "accept")
    steps, returned, best = said.split()
    assert returned == best
    told = lines(suite, "feedback")
    assert told[:2] == before
    # No prompt was counted twice: the optimizer met the same replies, and went on from there.
    assert 3 <= len(told) == len({row["prompt"] for row in told}) == int(steps) <= 8
    assert {row["prompt"] for row in lines(suite, "prompt")} == {row["prompt"] for row in told}


def test_the_metric_tells_what_the_feedback_allows(dspy: Any, suite: Path) -> None:
    from pytest_maxrandom.searches.dspy import Task

    values: dict[str, list[float]] = {}
    for feedback in ("none", "accept", "improved", "score", "answers"):
        with search(suite, model="knows", feedback=feedback, by=feedback) as tries:
            task = Task(tries)
            values[feedback] = [
                task.metric(each, task.program(question=each.question)) for each in task.valset
            ]
            # What GEPA is told in words is no more.
            first = task.valset[0]
            answered = task.program(question=first.question)
            words: Any = task.metric(first, answered, None, "ask", None)
            said = words.feedback.startswith(("This is right", "This is wrong"))
            assert said == (feedback == "answers")
            if feedback == "score":
                evaluated = dspy.Evaluate(devset=task.valset, metric=task.metric)(task.program)
                mean = sum(values[feedback]) / len(task.valset)
                assert evaluated.score == pytest.approx(100 * mean, abs=0.01)
    assert {*values["none"]} == {0.0}
    assert {*values["accept"]} == {0.5}  # the first prompt is the best so far
    assert values["improved"] == values["score"]
    assert {*values["answers"]} == {0.0, 1.0}
    accuracy = sum(values["answers"]) / len(values["answers"])
    assert values["score"] == pytest.approx([accuracy] * 15)


def test_what_is_beyond_the_budget_is_worth_nothing(suite: Path) -> None:
    from pytest_maxrandom.searches.dspy import Task

    with search(suite, model="knows", feedback="score", budget=1) as tries:
        task = Task(tries)
        first = task.program(question=task.valset[0].question)
        assert first.value > 0
        other = task.program.deepcopy()
        other.ask.signature = other.ask.signature.with_instructions("Another one.")
        assert other(question=task.valset[0].question).value == 0
        assert (task.untold, tries.t) == (1, 1)


def test_demos_that_make_no_sense_are_one_sentence(dspy: Any, suite: Path) -> None:
    from pytest_maxrandom.searches.dspy import Task

    with search(suite, model="knows", feedback="score") as tries:
        task = Task(tries)
        task.program.ask.demos = task.trainset[:3]
        with pytest.raises(SearchError, match=r"^found 3 demos, expected at most 2, which is how"):
            task.program(question=task.valset[0].question)
        task.program.ask.demos = [dspy.Example(question="Who?", answer="Me")]
        with pytest.raises(SearchError, match=r"^demos: found 'Who\?', expected questions of"):
            task.program(question=task.valset[0].question)


def _prompt(task: Any, instruction: str, demos: tuple[str, ...]) -> str:
    import dspy

    shown = [dspy.Example(question=one) for one in demos]
    digest: str = task.prompt(instruction, shown).digest
    return digest

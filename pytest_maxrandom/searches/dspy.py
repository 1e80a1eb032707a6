"""DSPy's optimizers as searches: a program whose prompts are tries, with a metric and examples.

::

    with search("eval_suites/snarks.yaml", feedback="improved", budget=50, by="MIPROv2") as tries:
        task = Task(tries)
        dspy.MIPROv2(metric=task.metric, auto=None, num_candidates=5).compile(
            task.program, trainset=task.trainset, valset=task.valset, num_trials=20
        )
        record = tries.verdict()

The program asks the suite's model through the sweep, whatever language model DSPy is configured
with; that one only proposes. Its instruction is the prompt's, its demos are the demonstrations.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import BudgetSpent, SearchError

try:
    import dspy
except ImportError as error:
    raise SearchError(
        "DSPy is not installed; install it with `pip install 'pytest-maxrandom[dspy]'`"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.searches.tries import Tries
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example

UNTOLD = "(not told)"
"""The answer that a program gives to a validation example, where answers are not told."""


class Task:
    """What an optimizer of DSPy takes: a program, a metric, and examples.

    Parameters
    ----------
    tries : Tries
        The search. GEPA reads the metric's feedback, and most optimizers keep what each example
        scored; where `feedback` is not `answers`, the metric gives all validation examples the
        value of their prompt, and the examples have no text. That value is what `Tries` returns as
        a number, so the program that an optimizer returns has the best prompt that it tried.

    Attributes
    ----------
    program : dspy.Module
        Answers `question` with `answer`. It has one predictor, `ask`.
    trainset : list of dspy.Example
        The examples that demonstrations are drawn from. What is asked of them is no try.
    valset : list of dspy.Example
        The validation set.
    untold : int
        Prompts that were proposed after the budget was spent; their value is 0.
    """

    def __init__(self, tries: Tries) -> None:
        self._tries, self._tried = tries, tries._tried
        validation = self._tried.validation
        self._pool = _by_question(tries.demonstrations.values())
        tells_answers = tries.feedback == "answers"
        self._questions = (
            _by_question(validation)
            if tells_answers
            else {f"validation example {example.id}": example for example in validation}
        )
        self.untold = 0
        self.trainset = [_example(question, each) for question, each in self._pool.items()]
        self.valset = [
            _example(question, example if tells_answers else None)
            for question, example in self._questions.items()
        ]
        self.program = _Program(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Task:
        return self  # optimizers copy programs, and there is one search

    def metric(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        predictor: str | None = None,
        predictor_trace: Any = None,
    ) -> float | dspy.Prediction:
        """Return what may be known of an answer; for GEPA, which names a predictor, in words too.

        Of an example that demonstrations are drawn from that is whether it is right.
        """
        score: float = prediction.get("value", 0.0)
        if predictor is None:
            return score
        right = example.get("answer")
        if right is None:  # the value is that of the prompt
            return dspy.Prediction(
                score=score, feedback="This search does not learn whether the answer is right."
            )
        said = "This is right." if score else "This is wrong."
        words = f"{said} The right answer is {right!r}."
        return dspy.Prediction(score=score, feedback=words)

    def prompt(self, instruction: str, demos: Sequence[Any]) -> Prompt:
        """Return the prompt of a program.

        Where a program has fewer demos than the claim has shots, the first examples of `trainset`
        that are not among them come first.

        Raises
        ------
        SearchError
            If it has more, or one that is not of `trainset`.
        """
        tries, shown_ids = self._tries, []
        for demo in demos:
            question = demo.get("question")
            if question not in self._pool:
                raise SearchError(f"demos: found {question!r}, expected questions of `trainset`")
            shown_ids.append(self._pool[question].id)
        shown_ids = list(dict.fromkeys(shown_ids))
        if len(shown_ids) > tries.shots:
            raise SearchError(
                f"found {len(shown_ids)} demos, expected at most {tries.shots}, which is how many "
                "shots the claim is about; tell the optimizer (`max_bootstrapped_demos`, "
                "`max_labeled_demos`)"
            )
        others = [one for one in tries.demonstrations if one not in shown_ids]
        shown = [*others[: tries.shots - len(shown_ids)], *shown_ids]
        text = f"{instruction}\n\n" if instruction else ""
        return self._tried.proposals.prompt(text, shown)

    def answer(self, instruction: str, demos: Sequence[Any], question: str) -> dict[str, Any]:
        """Ask one question, and return the fields of a prediction."""
        prompt = self.prompt(instruction, demos)
        if question in self._questions:
            return self._of_validation(prompt, self._questions[question])
        if question not in self._pool:
            raise SearchError(f"question: found {question!r}, expected one of trainset or valset")
        found = self._tried.ask(prompt, [self._pool[question]])
        return _reply(found, found.examples[0])

    def _of_validation(self, prompt: Prompt, example: Example) -> dict[str, Any]:
        tried = self._tried
        try:
            found = tried.try_prompt(prompt)
        except BudgetSpent:
            self.untold += 1
            return {"answer": UNTOLD, "value": 0.0}
        if tried.feedback == "answers":
            return _reply(found, example)
        return {"answer": UNTOLD, "value": tried.value(found)}


class _Ask(dspy.Predict):  # type: ignore[misc]
    """A predictor whose language model is that of the search."""

    def __init__(self, task: Task) -> None:
        super().__init__(dspy.Signature("question -> answer", "Answer the question."))
        self.task = task

    def forward(self, **given: Any) -> dspy.Prediction:
        """Ask; what optimizers pass for language models has no effect."""
        question = given["question"]
        signature: Any = given.get("signature", self.signature)
        demos: Any = given.get("demos", self.demos)
        fields = self.task.answer(signature.instructions, demos, question)
        prediction = dspy.Prediction(**fields)
        shown = dspy.Prediction(answer=fields["answer"])
        if dspy.settings.trace is not None:
            dspy.settings.trace.append((self, {"question": question}, shown))
        return prediction


class _Program(dspy.Module):  # type: ignore[misc]
    def __init__(self, task: Task) -> None:
        super().__init__()
        self.ask = _Ask(task)

    def forward(self, question: str) -> dspy.Prediction:
        """Answer a question."""
        return self.ask(question=question)


def _by_question(examples: Iterable[Example]) -> dict[str, Example]:
    """Return examples by their questions; where several ask the same, by their ids as well."""
    given = list(examples)
    times = Counter(example.input for example in given)
    return {
        each.input if times[each.input] == 1 else f"{each.input} ({each.id})": each
        for each in given
    }


def _example(question: str, example: Example | None) -> dspy.Example:
    fields = {"question": question}
    if example is not None:
        fields["answer"] = example.choices[example.right[0]]
    return dspy.Example(**fields).with_inputs("question")


def _reply(found: PromptPredictions, example: Example) -> dict[str, Any]:
    place = [each.id for each in found.examples].index(example.id)
    chosen = found.chosen[place]
    answer = "(no answer could be read)" if chosen is None else example.choices[chosen]
    return {"answer": answer, "value": float(chosen in example.right)}

"""What a suite's claims are, and all that is wrong with it before a model is loaded."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.needed import surplus_needed
from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.stats.incumbents import BestOverIncumbent, best_over_incumbent
from tests.notes import noted, sentences
from tests.suites import load_suite

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim

MODELS = "models: [{name: some/model}]\n"
FRUIT = "{name: fruit, format: csv, path: fruit.csv}"


class Suites:
    """A current folder with the tasks fruit.csv (12 examples) and colors.json (2, one doubled)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = [f'question {number},"[""a"", ""b""]",a' for number in range(12)]
        (folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
        scores = {"red": 1, "blue": 0, "green": 0}
        questions = [{"input": word, "target_scores": scores} for word in ("x", "y", "y")]
        (folder / "colors.json").write_text(json.dumps({"examples": questions}))

    def claims(self, text: str) -> list[PlannedClaim]:
        """Write the suite s.yaml and plan it."""
        (self.folder / "s.yaml").write_text(f"{text.rstrip()}\nallow_unpassable: true\n")
        return plan(load_suite(Path("s.yaml")))

    def problems(self, text: str) -> list[str]:
        """All that a user is told of a suite that cannot be planned."""
        with pytest.raises(SuiteError) as caught:
            self.claims(text)
        return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suites:
    monkeypatch.chdir(tmp_path)
    return Suites(tmp_path)


def test_there_is_a_claim_for_each_model_task_and_number_of_shots(suites: Suites) -> None:
    found = suites.claims(f"""\
models:
- {{name: allenai/OLMo-7B}}
- {{name: allenai/OLMo-7B, quantization: none, label: olmo}}
tasks:
- {FRUIT}
- {{name: colors, format: bigbench, path: colors.json}}
prompts: {{shots: [1, 0]}}
""")
    assert [claim.name for claim in found] == [
        "fruit[OLMo-7B-nf4-1shot]",
        "fruit[OLMo-7B-nf4-0shot]",
        "colors[OLMo-7B-nf4-1shot]",
        "colors[OLMo-7B-nf4-0shot]",
        "fruit[olmo-none-1shot]",
        "fruit[olmo-none-0shot]",
        "colors[olmo-none-1shot]",
        "colors[olmo-none-0shot]",
    ]
    assert [claim.line for claim in found] == [5, 5, 6, 6, 5, 5, 6, 6]
    assert [claim.condition.prompt_set.n for claim in found[:4]] == [11, 12, 2, 3]
    assert found[0].condition is found[4].condition


def test_a_task_says_for_itself_or_inherits_from_its_suite(suites: Suites) -> None:
    own, heir = suites.claims(f"""\
{MODELS}assert: {{p_max: 0.01, beats: standard}}
xfail: all guess
marks: [slow, nightly]
tasks:
- {{name: own, format: csv, path: fruit.csv, assert: {{beats: max_random}}, xfail: too hard,
   marks: [nightly, fruity]}}
- {FRUIT}
prompts: {{shots: 1}}
""")
    assert (own.claim, heir.claim) == (Claim(None, "max_random"), Claim(0.01, "standard"))
    assert (own.xfail, heir.xfail) == ("too hard", "all guess")
    assert (own.marks, heir.marks) == (("slow", "nightly", "fruity"), ("slow", "nightly"))


def test_a_suite_that_says_nothing_claims_the_default(suites: Suites) -> None:
    (claim,) = suites.claims(f"{MODELS}tasks: [{FRUIT}]\n")
    assert (claim.claim, claim.xfail, claim.marks) == (Claim(0.05, permutation_p=0.05), None, ())


def test_counterfactual_scoring_states_answers_in_all_prompts(suites: Suites) -> None:
    texts = []
    for said in (
        "",
        "scoring: counterfactual",
        "scoring: counterfactual\ncounterfactual: {statement: ' was', continuation: ' right'}",
    ):
        (claim,) = suites.claims(f"{MODELS}tasks: [{FRUIT}]\nprompts: {{shots: 1}}\n{said}\n")
        prompt_set = claim.condition.prompt_set
        assert (claim.record("id", "suite").scoring == "counterfactual") == bool(said)
        texts.append([prompt.text for prompt in prompt_set.prompts])
        assert len({prompt.digest for prompt in prompt_set.prompts}) == prompt_set.possible == 12
    plain, best, right = texts
    assert best == [text.removesuffix("\n") + " is the best\n" for text in plain]
    assert right == [text.removesuffix("\n") + " was right\n" for text in plain]


def test_a_record_says_before_the_test_how_n_and_t_come_about(suites: Suites) -> None:
    _, claim = suites.claims(f"""\
{MODELS}tasks:
- {FRUIT}
- {{name: colors, format: bigbench, path: colors.json, validation: {{seed: 3}}}}
prompts: {{shots: 1, count: 5, seed: 8, instructions: [One., Two.]}}
scoring: sum_logprob
""")
    record = claim.record("s.yaml::colors[...]", "s.yaml")
    assert (record.id, record.suite, record.line) == ("s.yaml::colors[...]", "s.yaml", 4)
    assert (record.task, record.model, record.shots) == ("colors", "some/model", 1)
    assert (record.quantization, record.scoring) == ("nf4", "sum_logprob")
    assert (record.n, record.t, record.standard_baseline) == (2, 2, 1 / 3)
    # Of two guessers of two examples at chance 1/3: P(best >= 1) and P(best = 2).
    one, both = 1 - (4 / 9) ** 2, 1 - (8 / 9) ** 2
    assert record.max_random_baseline == pytest.approx((one + both) / 2)
    assert record.critical_count is None
    assert record.asserted == {"p_max": 0.05, "permutation_p": 0.05}
    assert record.passed is None
    assert record.prompts is not None
    assert (record.prompts.asked, record.prompts.possible, record.prompts.pool) == (5, 2, 1)
    assert (record.prompts.regime, record.prompts.seed) == ("leave_out", 8)
    assert (record.prompts.instructions, record.prompts.formats) == (2, 1)
    assert record.validation is not None
    assert (record.validation.examples, record.validation.available) == (3, 3)
    assert (record.validation.duplicates, record.validation.seed) == (1, 3)
    assert record.validation.chances == {"1/3": 3}
    assert record.validation_ids == ["#1", "#2", "#3"]
    assert noted(record) == list(sentences(claim.condition.prompt_set.notes))
    assert len(noted(record)) == 2


def test_the_mistakes_of_all_tasks_and_models_are_told_at_once(suites: Suites) -> None:
    (suites.folder / "bad.csv").write_text('input,choices,answer\nq,"[""a"", ""b""]",c\n')
    (suites.folder / "models" / "tiny-llama").mkdir(parents=True)
    (suites.folder / "empty").mkdir()
    assert suites.problems(f"""\
models:
- name: ./models/tiny-lama
- name: empty
- name: allenai/OLMo-7B
tasks:
- {FRUIT}
- {{name: bad, format: csv, path: bad.csv}}
- {{name: none, format: csv, path: friut.csv}}
- {{name: colors, format: bigbench, path: colors.json}}
prompts:
  count: 9
  shots: [1, 3, 4]
""") == [
        "s.yaml:2: models[0].name: there is no folder ./models/tiny-lama (relative to the suite "
        "file), and it is not a hub id such as allenai/OLMo-7B-hf; did you mean "
        "`models/tiny-llama`?",
        "s.yaml:3: models[1].name: the folder empty holds no config.json; expected a model as "
        "written by save_pretrained",
        "bad.csv:2: the answer 'c' is none of the choices 'a', 'b'",
        "s.yaml:8: there is no file 'friut.csv' (paths are relative to the suite file); "
        "did you mean 'fruit.csv'?",
        "s.yaml:12: 3 shots need 3 different examples for demonstrations, found 1 in the "
        "validation set of colors; use fewer shots, or give the task more examples",
        "s.yaml:12: 4 shots need 4 different examples for demonstrations, found 1 in the "
        "validation set of colors; use fewer shots, or give the task more examples",
    ]


def test_too_many_choices_for_letters_are_told_once_where_the_letters_are(suites: Suites) -> None:
    choices = ", ".join(f"c{number}" for number in range(27))
    (suites.folder / "many.csv").write_text("input,answer\nq,c0\nr,c1\ns,c2\n")
    assert suites.problems(f"""\
{MODELS}tasks:
- {{name: many, format: csv, path: many.csv, choices: [{choices}]}}
prompts:
  shots: [0, 1]
  formats: [{{labels: letter}}]
""") == [
        "s.yaml:6: many has an example with 27 choices, and there are 26 letters; "
        "use `labels: number`"
    ]


def test_a_task_without_a_mistake_does_not_hide_one_with(suites: Suites) -> None:
    text = f"{MODELS}tasks: [{FRUIT}]\nprompts: {{shots: [1, 12]}}\n"
    assert suites.problems(text) == [
        "s.yaml:3: fruit has 12 validation examples, of which 12 shots leave none to score; use "
        "fewer shots, or give the task more examples"
    ]
    (claim,) = suites.claims(text.replace(", 12]", "]"))
    assert claim.condition.prompt_set.n == 11


def test_paths_are_relative_to_the_suite(suites: Suites) -> None:
    deeper = suites.folder / "eval_suites"
    deeper.mkdir()
    (suites.folder / "fruit.csv").rename(deeper / "fruit.csv")
    (deeper / "s.yaml").write_text(f"{MODELS}tasks: [{FRUIT}]\nallow_unpassable: true\n")
    (claim,) = plan(load_suite(deeper / "s.yaml"))
    assert claim.base == deeper
    assert len(claim.condition.task.examples) == 12


def test_a_claim_that_no_result_can_pass_is_told_before_any_model_is_run(suites: Suites) -> None:
    path = Path("s.yaml")
    path.write_text(f"{MODELS}tasks:\n- {FRUIT}\nprompts: {{shots: 0, count: 1}}\n")
    with pytest.raises(SuiteError, match=r"are the same; give the task more examples with other "):
        plan(load_suite(path))
    rows = [f'question {number},"[""a"", ""b""]",{"ab"[number % 2]}' for number in range(12)]
    (suites.folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
    assert len(plan(load_suite(path))) == 1  # 12 of 12 by chance: 2 ** -12
    path.write_text(f"{MODELS}tasks:\n- {FRUIT}\nprompts: {{shots: 4, count: 200}}\n")
    with pytest.raises(SuiteError) as caught:
        plan(load_suite(path))
    reached = 1 - (1 - 0.5**8) ** 200
    assert str(caught.value) == (
        "s.yaml:3: fruit[model-nf4-4shot] can never pass: with t = 200, even if all of n = 8 "
        f"answers are right, p_max = {f'{reached:.3f}'[1:]} is above .05; use more examples or "
        "fewer prompts (`maxrandom plan` computes how many), or write `allow_unpassable: true`"
    )


def test_a_claim_that_no_result_can_show_beside_the_incumbent_is_told_as_well(
    suites: Suites,
) -> None:
    rows = [f'question {number},"[""a"", ""b""]",{"ab"[number % 2]}' for number in range(9)]
    (suites.folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
    path = Path("s.yaml")
    text = (
        f"{MODELS}tasks:\n- {FRUIT}\nincumbent: {{instruction: Old}}\n"
        "assert: {better_than: incumbent}\nprompts: {shots: 0, count: 1, instructions: [A, B]}\n"
    )
    path.write_text(text)
    assert len(plan(load_suite(path))) == 1
    many = text.replace("[A, B]", repr([f"A{number}" for number in range(30)]))
    path.write_text(many.replace("count: 1", "count: 30"))
    with pytest.raises(SuiteError) as caught:
        plan(load_suite(path))
    least = 30 * 0.5**9
    assert str(caught.value) == (
        "s.yaml:3: fruit[model-nf4-0shot] can never pass: with t = 30, even if the best prompt is "
        "right on all of n = 9 examples and the incumbent on none, incumbent p "
        f"= {f'{least:.3f}'[1:]} is above .05; use more examples or fewer prompts (`maxrandom "
        "plan` computes how many), or write `allow_unpassable: true`"
    )


@pytest.mark.parametrize(
    ("asserted", "beside", "least"),
    [
        ("beats: 0.62", "scores 1 on all of n = 6 examples, baseline p", 0.62**6),
        (
            "control_p: 0.05",
            "scores 1 on all of n = 6 examples and the control 0, control p",
            5 * 0.5**6,
        ),
        (
            "better_than: incumbent, by: 0.1",
            "is right on all of n = 6 examples and the incumbent on none, incumbent p",
            5 * 0.55**6,
        ),
    ],
)
def test_a_claim_about_scores_that_too_few_examples_can_show_is_told_as_well(
    suites: Suites, asserted: str, beside: str, least: float
) -> None:
    """Gaffke's p of a sample of ones is (1 - x)^n: the added least score has the weight x at least.

    That is the share of the way from the highest score to the least one that the bound lies at.
    """

    def suite(n: int) -> Path:
        rows = "".join(f"Who is number {place}?,Ann {place}\n" for place in range(n + 9))
        (suites.folder / "facts.csv").write_text(f"input,answer\n{rows}")
        path, t = Path("s.yaml"), 1 if "beats" in asserted else 5
        path.write_text(
            f"{MODELS}tasks:\n- {{name: facts, format: csv, path: facts.csv, answer_is: open, "
            f"validation: {{max_examples: {n}}}}}\nscoring: f1\ncontrol: {{answer: Bob}}\n"
            "incumbent: {instruction: Old}\n"
            f"assert: {{{asserted}}}\nprompts: {{shots: 0, count: {t}, instructions: "
            f"{[f'A{place}' for place in range(t)]}}}\n"
        )
        return path

    with pytest.raises(SuiteError) as caught:
        plan(load_suite(suite(6)))
    told = str(caught.value)
    assert "can never pass: with t = " in told
    assert f"even if the best prompt {beside} = {f'{least:.3f}'[1:]} is above .05" in told
    assert len(plan(load_suite(suite(12)))) == 1


@pytest.mark.parametrize(
    ("n", "level", "test"),
    [(199, 0.05, "exact"), (200, 0.05, "resampled"), (200, 1e-4, "exact")],
)
def test_what_a_search_needs_beside_the_incumbent_is_by_the_test_that_the_claim_has(
    suites: Suites, n: int, level: float, test: str
) -> None:
    rows = "".join(f"Is {place} even?,{'yn'[place % 2]}\n" for place in range(n))
    (suites.folder / "even.csv").write_text(f"input,answer\n{rows}")
    [planned] = suites.claims(
        f"{MODELS}tasks:\n- {{name: even, format: csv, path: even.csv, choices: [y, n]}}\n"
        "incumbent: {instruction: Old}\n"
        f"assert: {{better_than: incumbent, incumbent_p: {level}}}\n"
        "prompts: {shots: 0, count: 1, instructions: [A, B, C, D]}\n"
    )
    found = surplus_needed(planned, 4, tree=False)

    def judged(wins: int, losses: int) -> BestOverIncumbent:
        alone = (np.arange(n) < wins).astype(float)
        today = (np.arange(n) >= n - losses).astype(float)
        rows = np.vstack([alone, np.zeros((3, n))])
        return best_over_incumbent(rows, today, level=level)

    assert judged(n // 2, 0).test == test
    if test == "resampled":
        assert found is None
        return
    assert found is not None
    few, all_ = found[0], (found[1] + n) // 2
    passed = [judged(wins, 0).p <= level for wins in (few - 1, few)]
    assert passed == [False, True]
    passed = [judged(wins, n - wins).p <= level for wins in (all_ - 1, all_)]
    assert passed == [False, True]


def test_claims_of_a_family_share_their_levels(suites: Suites) -> None:
    claims = suites.claims(f"""\
{MODELS}assert: {{p_max: 0.05, union_p: 0.1, family: suite}}
tasks:
- {FRUIT}
- {{name: own, format: csv, path: fruit.csv, assert: {{permutation_p: 0.02}}}}
- {{name: told, format: csv, path: fruit.csv, assert: report}}
- {{name: mild, format: csv, path: fruit.csv, assert: {{red_flags: warn}}}}
prompts: {{shots: [0, 1]}}
""")
    assert [(claim.condition.task.name, claim.claim.levels(5)) for claim in claims[::2]] == [
        ("fruit", {"p_max": 0.05 / 6, "union_p": 0.1 / 6}),
        ("own", {"permutation_p": 0.02 / 6}),
        ("told", {}),
        ("mild", {"p_max": 0.05 / 6, "union_p": 0.1 / 6}),
    ]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("family: suite", "`family: suite`"),
        ("looks: spend", "`looks: spend`"),
        ("looks: spend, family: suite", "`family: suite` and `looks: spend`"),
    ],
)
def test_what_shares_or_spends_no_level_is_told(suites: Suites, keys: str, told: str) -> None:
    text = f"{MODELS}assert: {{beats: max_random, {keys}}}\ntasks:\n- {FRUIT}\n"
    (problem,) = suites.problems(f"{text}prompts: {{shots: [0, 1]}}\n")
    assert problem.startswith(f"s.yaml:4: fruit: {told}: there is no level")
    assert suites.claims(text.replace("{beats", "{union_p: 0.05, beats"))
    assert suites.claims(text.replace("beats: max_random, ", ""))


def test_levels_are_spent_per_doubling_of_t(suites: Suites) -> None:
    (claim,) = suites.claims(
        f"{MODELS}assert: {{looks: spend}}\ntasks: [{FRUIT}]\nprompts: {{shots: 1}}\n"
    )
    assert claim.claim.asserted() == {"p_max": 0.05, "permutation_p": 0.05, "looks": "spend"}
    assert claim.claim.tried(9) == 15
    assert claim.claim.levels(9) == dict.fromkeys(("p_max", "permutation_p"), 0.05 / 20)


def test_macro_f1_is_judged_by_shuffled_answers_only(suites: Suites) -> None:
    rows = [f'question {number},"[""a"", ""b""]",{"ab"[number % 2]}' for number in range(12)]
    (suites.folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
    text = f"{MODELS}metric: macro_f1\ntasks: [{FRUIT}]\nprompts: {{shots: 0}}\n"
    (claim,) = suites.claims(text)
    assert claim.claim.asserted() == {"permutation_p": 0.05}
    assert suites.problems(f"assert: {{p_max: 0.05, beats: standard}}\n{text}") == [
        "s.yaml:3: `p_max` and `beats` with `metric: macro_f1`: a constant answer scores higher "
        "than random guesses, so guessers are no measure; claim `permutation_p`, or use `metric: "
        "balanced_accuracy`"
    ]


def test_another_metric_needs_labels_that_examples_share(suites: Suites) -> None:
    text = f"{MODELS}metric: macro_f1\ntasks:\n- {FRUIT}\nprompts: {{shots: 0}}\n"
    (claim,) = suites.claims(text)
    exact = sum(math.comb(12, k) / 2**12 * 2 * k / (12 + k) for k in range(13))
    assert claim.null.standard_baseline == pytest.approx(exact, abs=0.01)
    rows = [f'q{number},"[""a"", ""b{number}""]",a' for number in range(12)]
    (suites.folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
    assert suites.problems(text) == [
        "s.yaml:2: fruit: metric: macro_f1 needs examples with the same choices and one right "
        "choice each; use `metric: accuracy`"
    ]


def test_another_metric_needs_prompts_that_share_their_examples(suites: Suites) -> None:
    text = f"{MODELS}metric: balanced_accuracy\ntasks:\n- {FRUIT}\nprompts: {{shots: 1}}\n"
    (problem,) = suites.problems(text)
    assert problem.startswith("s.yaml:2: fruit: metric: balanced_accuracy needs prompts that are ")


def test_a_permutation_p_that_no_shuffling_can_give_is_told_too(suites: Suites) -> None:
    rows = [f'q{number},"[""a"", ""b""]",{"ab"[number < 2]}' for number in range(4)]
    (suites.folder / "fruit.csv").write_text("\n".join(["input,choices,answer", *rows]))
    path = Path("s.yaml")
    text = f"{MODELS}tasks:\n- {FRUIT}\nprompts: {{shots: 0}}\nassert: {{permutation_p: %s}}\n"
    path.write_text(text % 0.2)
    assert len(plan(load_suite(path))) == 1  # 4 choose 2 are 6 ways
    path.write_text(text % 0.15)
    with pytest.raises(SuiteError, match="permutation p is at least 1/6, because"):
        plan(load_suite(path))

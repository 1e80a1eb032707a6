"""Arms of a suite, compared by pytest: models that run, and results that exist already."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.models.mock import MockModel
from tests.plugin.conftest import N, ledger_of
from tests.unit.recorded.suites import rows, save

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.models.questions import Question, Reply

DISTRIBUTED = pytest.mark.parametrize(
    "arguments",
    [pytest.param((), id="alone"), pytest.param(("-n", "2"), id="xdist", marks=pytest.mark.slow)],
)


class Suite:
    """A suite of one model with arms, and what pytest says of it."""

    def __init__(self, pytester: pytest.Pytester, folder: Path) -> None:
        self.pytester, self.folder = pytester, folder
        self.text = (
            (folder / "suite.yaml")
            .read_text()
            .replace("    xfail: the answers are the opposite of what the model says\n", "")
            .replace("    assert: {red_flags: {never_right: ignore}}\n", "")
        )

    def write(self, rest: str) -> None:
        (self.folder / "suite.yaml").write_text(f"{self.text}  count: 3\nassert: report\n{rest}")

    def run(self, *arguments: str) -> pytest.RunResult:
        result = self.pytester.runpytest("--maxrandom-json=r.json", *arguments)
        path = self.pytester.path / "r.json"
        self.report: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return result

    def comparisons(self, kind: str = "comparisons") -> dict[str, dict[str, Any]]:
        return {each["id"].partition("::")[2]: each for each in self.report[kind]}

    def prompts_in_ledger(self) -> int:
        return sum(line["kind"] == "prompt" for line in ledger_of(self.folder))


@pytest.fixture
def suite(pytester: pytest.Pytester, suites: Path) -> Suite:
    return Suite(pytester, suites)


@pytest.fixture
def real_suite(pytester: pytest.Pytester, real_suites: Path) -> Suite:
    return Suite(pytester, real_suites)


@DISTRIBUTED
def test_an_arm_is_compared_with_the_model_as_it_is(
    suite: Suite, arguments: tuple[str, ...]
) -> None:
    suite.write(
        "arms: {none: {}, copy: {}, other: {seed: 1}}\n"
        "compare: [other - none, none - other, "
        "{arms: copy - none, assert: {not_worse_than: -0.15}}]\n"
    )
    result = suite.run(*arguments)
    result.assert_outcomes(passed=6 + 6)
    found = suite.comparisons()
    assert sorted(found) == sorted(
        f"{task}::compare[{name}]"
        for task in ("known", "unknown")
        for name in ("other-none", "none-other", "copy-none")
    )
    claims = {each["id"].partition("::")[2]: each for each in suite.report["claims"]}
    for task in ("known", "unknown"):
        one, other = found[f"{task}::compare[other-none]"], found[f"{task}::compare[none-other]"]
        right = {arm: claims[f"{task}[{arm}-0shot]"]["correct_counts"] for arm in ("other", "none")}
        assert one["difference"] == pytest.approx((right["other"][0] - right["none"][0]) / N)
        assert one["first_accuracy"] == pytest.approx(right["other"][0] / N)
        assert one["first_best"] == claims[f"{task}[other-0shot]"]["best_accuracy"]
        assert other["difference"] == -one["difference"]
        assert (other["low"], other["high"]) == (-one["high"], -one["low"])
        (prompt,) = one["prompts"]
        pair = prompt["only_first"], prompt["only_second"]
        assert prompt["p_value"] == pytest.approx(stats.binomtest(pair[0], sum(pair)).pvalue)
        # One prompt: the sign-flip over examples is McNemar's test.
        assert one["p_value"] == pytest.approx(prompt["p_value"])
        assert one["changed"] == "seed: 1, not 0"
        copy = found[f"{task}::compare[copy-none]"]
        assert (copy["difference"], copy["p_value"]) == (0, 1)
        # Losses that N examples do not show with probability .05, at 90 %.
        assert copy["low"] == -copy["high"] == pytest.approx(0.05 ** (1 / N) - 1, abs=0.005)
        assert copy["assertion_p"] < 0.05
        assert (copy["t"], copy["n"], copy["units"]) == (1, N, "examples")
    over = {(each["first"], each["second"]): each for each in suite.report["over_tasks"]}
    assert over["other", "none"]["tasks"] == 2
    by_task = [found[f"{task}::compare[other-none]"]["difference"] for task in ("known", "unknown")]
    assert over["other", "none"]["difference"] == pytest.approx(np.mean(by_task))
    assert found["known::compare[other-none]"]["adjusted_bh"] is not None
    # Each arm's one prompt, for both tasks, and nothing for the copy or the comparisons.
    assert suite.prompts_in_ledger() == 4


def test_all_arms_are_compared_and_a_model_tried_before_pays_for_it(suite: Suite) -> None:
    arms = "arms: {none: {}, copy: {}, other: {seed: 1}}\n"
    suite.write(f"{arms}compare: all\n")
    result = suite.run("--collect-only")
    result.stdout.fnmatch_lines(["*<BestModels compare[[]all[]] models=3 n=24>"])
    suite.run("-k", "compare").assert_outcomes(passed=2)
    found = suite.comparisons("best_models")["known::compare[all]"]
    assert found["outcome"] == "passed"
    assert [each["name"] for each in found["models"]] == ["none", "copy", "other"]
    assert [each["tried"] for each in found["models"]] == [1, 1, 1]
    assert all(each["among_best"] for each in found["models"][:2])
    assert suite.prompts_in_ledger() == 4, "those of the copy are those of the model"
    suite.write(f"{arms}compare: all\n".replace("{none: {}", '{none: {instruction: "Answer.\\n"}'))
    suite.run("-k", "compare").assert_outcomes(passed=2)
    again = suite.comparisons("best_models")["known::compare[all]"]
    assert [each["tried"] for each in again["models"]] == [1, 1, 1], "what another arm tries now"


@DISTRIBUTED
def test_comparisons_alone_sweep_and_count_what_they_need(
    suite: Suite, arguments: tuple[str, ...]
) -> None:
    suite.write(
        'arms: {none: {}, terse: {instruction: "Answer.\\n"}, '
        "letters: {format: {labels: letter}}}\ncompare: [terse - none]\n"
    )
    item = "eval_suites/suite.yaml::known::compare[terse-none]"
    result = suite.run(item, *arguments)
    result.assert_outcomes(passed=1)
    assert suite.report["claims"] == []
    alone = suite.comparisons()["known::compare[terse-none]"]
    assert alone["changed"] == "instruction: 'Answer.\\n', not the task's own"
    assert suite.prompts_in_ledger() == 2
    result = suite.run(*arguments)
    result.assert_outcomes(passed=6 + 2)
    again = suite.comparisons()["known::compare[terse-none]"]
    adjusted = ("adjusted_bh", "adjusted_holm")
    assert {**again, **dict.fromkeys(adjusted)} == {**alone, **dict.fromkeys(adjusted)}
    claims = {each["id"].partition("::")[2]: each for each in suite.report["claims"]}
    assert claims["known[terse-0shot]"]["engine"]["reused"] == 1
    # All arms of one model are tries of the same claim.
    assert claims["known[none-0shot]"]["tries"]["claim"] == 3


def test_what_is_computed_afresh_is_computed_once(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = list[int](), MockModel.ask

    def counted(model: MockModel, questions: Iterable[Question]) -> Reply:
        questions = list(questions)
        asked.append(len(questions))
        return ask(model, questions)

    monkeypatch.setattr(MockModel, "ask", counted)
    suite.write("arms: {none: {}, other: {seed: 1}}\ncompare: [other - none, none - other]\n")
    suite.run().assert_outcomes(passed=4 + 4)
    once = sum(asked)
    asked.clear()
    suite.run().assert_outcomes(passed=4 + 4)
    assert sum(asked) == 0
    suite.run("--maxrandom-fresh").assert_outcomes(passed=4 + 4)
    assert sum(asked) == once > 0


def test_a_claim_of_a_difference_fails_with_one_line(suite: Suite) -> None:
    suite.write(
        "arms: {none: {}, same: {}}\n"
        "compare: [{arms: same - none, assert: {better: 0.0}}, "
        "{arms: none - same, assert: {better: 0.0}, xfail: nothing differs}]\n"
    )
    result = suite.run("--deselect=eval_suites/suite.yaml::unknown")
    result.assert_outcomes(passed=2, failed=1, xfailed=1, deselected=4)
    result.stdout.fnmatch_lines(
        ["same - none = .000, needs above .000 (p > .999; 90 % interval -.117 to +.117; t = 1, "
         "n = 24)"]
    )  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")
    failed = suite.comparisons()["known::compare[same-none]"]
    assert (failed["outcome"], failed["passed"], failed["assertion_p"]) == ("failed", False, 1)
    assert failed["assert"] == {"better": 0.0, "level": 0.05}


@DISTRIBUTED
def test_a_failed_arm_is_one_clear_sentence(real_suite: Suite, arguments: tuple[str, ...]) -> None:
    suite = real_suite
    broken = suite.folder / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{}")
    suite.write("arms: {none: {}, lost: {model: ./broken}}\ncompare: [lost - none]\n")
    result = suite.run(*arguments)
    assert result.parseoutcomes()["passed"] == 2
    result.stdout.fnmatch_lines(["*the arm 'lost' has no results: *"])
    result.stdout.no_fnmatch_line("*Traceback*")
    found = suite.comparisons()["known::compare[lost-none]"]
    assert (found["outcome"], found["difference"], found["passed"]) == ("error", None, None)
    assert found["message"].startswith("the arm 'lost' has no results: ")
    assert "\n" not in found["message"]


def test_replicates_are_compared_pair_by_pair(suite: Suite) -> None:
    text = suite.text.replace("    append_choices: false\n", "    append_choices: false\n    "
                              "validation: {max_examples: 12}\n")  # fmt: skip
    suite.text = text
    suite.write("replicates: 6\narms: {none: {}, other: {seed: 1}}\ncompare: [other - none]\n")
    suite.run("-k", "known and not unknown")
    found = suite.comparisons()["known::compare[other-none]"]
    assert found["replicates"] == len(found["by_replicate"]) == 6
    assert found["difference"] == pytest.approx(np.mean(found["by_replicate"]))
    best = {
        each["claim"].partition("::")[2]: np.mean([run["best_accuracy"] for run in each["runs"]])
        for each in suite.report["replicates"]
    }
    assert found["first_best"] == pytest.approx(best["known[other-0shot]"])
    assert found["second_best"] == pytest.approx(best["known[none-0shot]"])
    assert found["best_low"] <= found["best_difference"] <= found["best_high"]


def test_collection_alone_shows_what_is_compared(suite: Suite) -> None:
    suite.write(
        "arms: {none: {}, more: {knows: 0.5}, k: {seed: 1}}\ncompare: [more - none]\n"
        "contamination: {base: none, extra: more, test: k}\n"
    )
    result = suite.pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        [
            "*<Claim unknown?k-0shot? t=* n=24*>",
            "*known>*",
            "*<Comparison compare?more-none? t=1 n=24>",
            "*<Contamination contamination t=1 n=24>",
        ]
    )


RECORDED = """\
models:
- {name: lab/base, backend: recorded, results: {path: base.npz, format: npz}}
- {name: lab/extra, backend: recorded, results: {path: extra.npz, format: npz}}
- {name: lab/test, backend: recorded, results: {path: test.npz, format: npz}, if_missing: ask}
tasks:
- {name: learned, chance: 1/2}
- {name: alike, chance: 1/2}
assert: report
compare: [extra - base, {arms: test - extra, assert: {better: 0.1}}]
contamination: {base: base, extra: extra, test: test, allow_inconclusive: true}
"""
SIZE = 40


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> Suite:
    """Results of three arms: of one task the last knows more than it should."""
    folder = pytester.mkdir("eval_suites")
    (folder / "suite.yaml").write_text(RECORDED)
    counts = {"base": (12, 14), "extra": (24, 26), "test": (38, 37)}
    for name, found in counts.items():
        save(
            folder / f"{name}.npz",
            learned__2={"correct": rows(*found, n=SIZE)},
            alike__2={"correct": rows(20, 21, n=SIZE)},
        )
    return Suite(pytester, folder)


@DISTRIBUTED
def test_recorded_arms_are_compared(recorded: Suite, arguments: tuple[str, ...]) -> None:
    result = recorded.run(*arguments)
    result.assert_outcomes(passed=6 + 2 + 1 + 1, failed=2)
    found = recorded.comparisons()
    one = found["learned::compare[extra-base]"]
    assert one["difference"] == pytest.approx((24 + 26 - 12 - 14) / (2 * SIZE))
    assert (one["first_best"], one["second_best"]) == (26 / SIZE, 14 / SIZE)
    assert (one["t"], one["n"], one["changed"]) == (2, SIZE, "model: lab/extra, not lab/base")
    assert found["alike::compare[test-extra]"]["outcome"] == "failed"
    assert found["learned::compare[test-extra]"]["outcome"] == "passed"
    told = recorded.comparisons("contamination")
    assert told["learned::contamination"]["finding"] == "tuned on the text"
    assert told["learned::contamination"]["outcome"] == "failed"
    assert told["alike::contamination"]["finding"] == "cannot tell"
    assert told["alike::contamination"]["outcome"] == "cannot tell, as allowed"
    assert told["alike::contamination"]["passed"] is None
    result.stdout.fnmatch_lines(["tuned on the text: extra is .300 above base (p *"])


def test_what_cannot_tell_is_never_expected_to_fail_and_fails_unless_it_is_allowed(
    recorded: Suite,
) -> None:
    path = recorded.folder / "suite.yaml"
    path.write_text(path.read_text().replace("allow_inconclusive: true", "xfail: a known leak"))
    result = recorded.run("--junitxml=junit.xml", "-k", "contamination")
    result.assert_outcomes(failed=1, xfailed=1)
    told = recorded.comparisons("contamination")
    assert told["learned::contamination"]["outcome"] == "xfailed"
    untold = told["alike::contamination"]
    assert (untold["outcome"], untold["passed"]) == ("cannot tell", None)
    assert untold["cannot_tell"]["kind"] == "no_effect"
    assert untold["message"].startswith("cannot tell: extra is not shown to be better than base")
    result.stdout.fnmatch_lines(["cannot tell: extra is not shown to be better than base, nor *"])
    written = (recorded.pytester.path / "junit.xml").read_text()
    assert written.count("<failure") == written.count('type="cannot tell"') == 1


def test_memorised_answers_fail_a_check_that_may_be_without_a_conclusion(recorded: Suite) -> None:
    save(
        recorded.folder / "test.npz",
        learned__2={"correct": rows(38, 37, n=SIZE)},
        alike__2={"correct": rows(SIZE, SIZE, n=SIZE)},
    )
    result = recorded.run("-k", "alike and contamination")
    result.assert_outcomes(failed=1)
    told = recorded.comparisons("contamination")["alike::contamination"]
    assert (told["finding"], told["outcome"]) == ("tuned on the text", "failed")
    result.stdout.fnmatch_lines(["tuned on the scored text; other text teaches nothing: test is *"])


@DISTRIBUTED
def test_a_bias_that_only_all_tasks_show_fails_the_run(
    recorded: Suite, arguments: tuple[str, ...]
) -> None:
    tasks = [f"t{number}" for number in range(8)]
    path = recorded.folder / "suite.yaml"
    head, _, _ = RECORDED.partition("tasks:")
    listed = "".join(f"- {{name: {task}, chance: 1/2}}\n" for task in tasks)
    checks = RECORDED.splitlines()[-1]
    path.write_text(f"{head}tasks:\n{listed}assert: report\n{checks}\n")
    for name, right in (("base", 20), ("extra", 20), ("test", 22)):
        sweeps = {f"{task}__2": {"correct": rows(right, right, n=SIZE)} for task in tasks}
        save(recorded.folder / f"{name}.npz", **sweeps)
    result = recorded.run(*arguments)
    result.assert_outcomes(passed=3 * 8 + 8)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert {each["finding"] for each in recorded.report["contamination"]} == {"cannot tell"}
    result.stdout.fnmatch_lines(
        ["FAILED:*", "over 8 tasks, test is tuned on the scored text: .050 above extra (p = .00*"]
    )
    expected = path.read_text().replace("allow_inconclusive: true", "xfail: a known leak")
    path.write_text(expected)
    assert recorded.run(*arguments).ret == pytest.ExitCode.TESTS_FAILED, "it cannot tell"


def test_all_recorded_models_are_compared_at_the_best_of_their_prompts(recorded: Suite) -> None:
    path = recorded.folder / "suite.yaml"
    head, _, _ = RECORDED.partition("compare:")
    path.write_text(f"{head}compare: {{arms: all, assert: {{best: test}}}}\n")
    result = recorded.run("--maxrandom-report=r.md")
    result.assert_outcomes(passed=6 + 1, failed=1)
    found = recorded.comparisons("best_models")
    one, other = found["learned::compare[all]"], found["alike::compare[all]"]
    assert [each["accuracy"] for each in one["models"]] == [14 / SIZE, 26 / SIZE, 38 / SIZE]
    assert [each["among_best"] for each in one["models"]] == [False, False, True]
    best, others = np.array(rows(38, n=SIZE)[0]), np.array(rows(24, 26, n=SIZE))
    wins, losses = (best & ~others).sum(axis=1), (others & ~best).sum(axis=1)
    hardest = 2 * max(
        stats.binomtest(int(won), int(won + lost), alternative="greater").pvalue
        for won, lost in zip(wins, losses, strict=True)
    )
    pair = next(
        each for each in one["pairs"] if (each["first"], each["second"]) == ("test", "extra")
    )
    assert pair["p_value"] == pytest.approx(hardest)
    assert pair["adjusted_p"] >= pair["p_value"]
    assert {each["among_best"] for each in other["models"]} == {True}
    assert (one["outcome"], other["outcome"]) == ("passed", "failed")
    best_of = [best_of_guessers(t) for t in (2, 6)]
    assert [one["max_random_baseline"], one["max_random_of_all"]] == pytest.approx(best_of)
    result.stdout.fnmatch_lines(["test (.525) cannot be told from base and extra (*): use more *"])
    assert "test is the best of 3" in (recorded.pytester.path / "r.md").read_text()


def best_of_guessers(t: int) -> float:
    """Return the expected accuracy of the best of t guessers, summed over all counts."""
    below = stats.binom.cdf(np.arange(SIZE + 1), SIZE, 0.5) ** t
    return float((1 - below[:-1]).sum() / SIZE)


def test_what_has_no_results_is_skipped_with_the_reason(recorded: Suite) -> None:
    (recorded.folder / "test.npz").unlink()
    result = recorded.run("-rs")
    result.assert_outcomes(passed=4 + 2, skipped=2 + 2 + 2)
    found = recorded.comparisons()["alike::compare[test-extra]"]
    assert (found["outcome"], found["message"], found["t"]) == ("skipped", "ask", None)


def test_results_that_cannot_be_paired_are_a_mistake(recorded: Suite) -> None:
    save(
        recorded.folder / "test.npz",
        learned__2={"correct": rows(30, 31, 32, n=SIZE)},
        alike__2={"correct": rows(20, 21, n=SIZE), "example_ids": np.arange(1, SIZE + 1)},
    )
    result = recorded.run()
    result.stdout.fnmatch_lines(
        ["*suite.yaml:9: compare?1?: 'test' and 'extra' cannot be paired on learned: prompt '2' is "
         "in *test.npz (learned?test-2shot?) only; arms must use the same prompts on the same "
         "examples",
         "*suite.yaml:9: compare?1?: 'test' and 'extra' cannot be paired on alike: example '40' is "
         "in *test.npz (alike?test-2shot?) only; *"]
    )  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
def test_an_adapter_is_an_arm_and_another_try_of_the_same_claim(
    real_suite: Suite, tiny_llama: Path
) -> None:
    suite = real_suite
    peft = pytest.importorskip("peft", reason="the extra `adapters` is not installed")
    import torch
    from transformers import AutoModelForCausalLM

    config = peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(tiny_llama)
    peft.get_peft_model(base, config).save_pretrained(suite.folder / "lora")
    suite.write(
        "arms: {base: {}, tuned: {adapter: ./lora}}\ncompare: [tuned - base, base - tuned]\n"
    )
    suite.run().assert_outcomes(passed=4 + 4)
    found = suite.comparisons()
    one, other = found["known::compare[tuned-base]"], found["known::compare[base-tuned]"]
    assert one["changed"] == "adapter: ./lora, not none"
    assert one["difference"] == -other["difference"] != 0
    claims = {each["id"].partition("::")[2]: each for each in suite.report["claims"]}
    tuned = claims["known[tuned-0shot]"]
    assert any(note["text"].endswith("runs with the adapter ./lora.") for note in tuned["notes"])
    assert {each["tries"]["claim"] for each in claims.values()} == {2}
    # Each arm's one prompt, for both tasks.
    assert suite.prompts_in_ledger() == 4
    suite.run().assert_outcomes(passed=4 + 4)
    assert all(each["engine"]["reused"] == 1 for each in suite.report["claims"])

"""Trained arms through pytest: what is drawn, trained, kept, compared and told."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_maxrandom.cli import main
from tests import tiny, trained_arms as world
from tests.needs import require
from tests.terminals import below, in_a_terminal, screens

require("hf")
require("training")

QUICK = "epochs: 2, learning_rate: 0.005, batch_size: 20"
ARMS = (
    f"  extra: {{train: {{text: extra, {QUICK}}}}}\n  test: {{train: {{text: scored, {QUICK}}}}}\n"
)


class Run:
    """A suite with trained arms, and what a run of it leaves behind."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.mkdir("eval_suites")
        world.write(self.folder, 0, world.examples(0))

    def write(self, rest: str = "", arms: str = ARMS, asked: str = world.PROMPTS) -> None:
        text = world.suite(arms, rest, asked=asked).replace(
            f"max_examples: {world.N}", "max_examples: 24"
        )
        (self.folder / "s.yaml").write_text(text)

    def run(self, *options: str) -> dict[str, Any]:
        self.result = self.pytester.runpytest("--maxrandom-json=r.json", *options)
        found: dict[str, Any] = json.loads((self.pytester.path / "r.json").read_text())
        return found

    @property
    def kept(self) -> set[Path]:
        """What is kept of trainings."""
        folder = self.pytester.path / ".maxrandom" / "trained"
        return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Run:
    return Run(pytester)


def test_arms_are_trained_once_as_a_dry_run_foretells_and_compared_on_the_same_questions(
    suite: Run,
) -> None:
    suite.write()
    foretold = told_by_a_dry_run(suite)
    assert not suite.kept
    report = suite.run()
    base, extra, test = report["claims"]
    assert base["training"] is None
    assert (extra["training"]["text"], test["training"]["text"]) == ("extra", "scored")
    assert extra["training"]["text_digest"] != test["training"]["text_digest"]
    assert base["validation_ids"] == extra["validation_ids"] == test["validation_ids"]
    trained = {"extra": extra["training"], "test": test["training"]}
    for found in trained.values():
        assert found["texts"] == 24
        assert found["losses"][-1] < found["losses"][0]
        assert found["tokens"] > 24 * 5
        assert found["seconds"] > 0
    assert foretold == {
        arm: (1, 0, 24, 0, found["steps"], found["tokens"]) for arm, found in trained.items()
    }
    (check,) = report["contamination"]
    assert check["finding"] in ("cannot tell", "no sign of it", "tuned on the text")
    suite.result.stdout.fnmatch_lines(["*24 extra*", "*24 scored*"])
    # A log has no progress of training.
    assert "steps" not in suite.result.stdout.str() + suite.result.stderr.str()
    kept_now = dict.fromkeys(trained, (1, 1, 24, 0, 0, 0))
    assert told_by_a_dry_run(suite, "--maxrandom-fresh") == kept_now
    assert told_by_a_dry_run(suite) == {}  # the store has all answers
    kept = suite.kept
    again = suite.run("--maxrandom-fresh")
    assert suite.kept == kept  # nothing was trained twice
    for old, new in zip(report["claims"], again["claims"], strict=True):
        assert old["correct_counts"] == new["correct_counts"]
        assert new["training"] is None or new["training"]["from_cache"]


def told_by_a_dry_run(suite: Run, *options: str) -> dict[str, tuple[int, ...]]:
    """Return the numbers of a dry run's table of trainings, by the arm."""
    result = suite.pytester.runpytest("--maxrandom-dry-run", *options)
    assert result.ret == 0
    rows = re.findall(r"^  (\w+) +sounds +([\d, ]+)$", result.stdout.str(), re.MULTILINE)
    return {
        arm: tuple(int(one.replace(",", "")) for one in numbers.split()) for arm, numbers in rows
    }


@pytest.mark.slow
def test_replicates_draw_and_train_their_own(suite: Run) -> None:
    suite.write("replicates: 2\n")
    report = suite.run()
    of_test = next(each for each in report["replicates"] if "[test-" in each["id"])
    digests = {each["training"]["text_digest"] for each in of_test["runs"]}
    seeds = {each["training"]["seed"] for each in of_test["runs"]}
    assert len(digests) == len(seeds) == 2
    (check,) = report["contamination"]
    assert check["finding"] is not None


@pytest.mark.slow
def test_a_classification_head_answers_the_text_alone(suite: Run) -> None:
    world.write(suite.folder, 0, world.loud(0))
    head = "classify: {examples: 100, epochs: 12, learning_rate: 0.003, batch_size: 20}\n"
    suite.write(asked=head)
    report = suite.run("--maxrandom-predictions=p.jsonl")
    assert [claim["scoring"] for claim in report["claims"]] == ["classify"] * 3
    assert [claim["shots"] for claim in report["claims"]] == [0] * 3
    for claim in report["claims"]:
        assert sum(claim["training"]["labelled"].values()) == 100
        assert claim["n"] == 24
    # Five of ten animals are loud, and each text names its animal: a head learns that.
    assert max(claim["best_accuracy"] for claim in report["claims"]) > 0.8


def counted(report: dict[str, Any]) -> dict[str, int]:
    """Return the t of each arm."""
    return {re.findall(r"\[(\w+)-", each["id"])[0]: each["t"] for each in report["claims"]}


@pytest.mark.slow
def test_an_arm_that_is_trained_otherwise_is_one_more_try_of_that_arm(
    suite: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.write()
    report = suite.run()
    assert counted(report) == {"base": 1, "extra": 1, "test": 1}
    assert [each["counted_as"] for each in report["claims"]] == [
        None,
        "model (trained: extra)",
        "model (trained: test)",
    ]
    assert counted(suite.run("--maxrandom-fresh")) == {"base": 1, "extra": 1, "test": 1}
    first = (suite.pytester.path / "r.json").rename("first.json")
    suite.write(arms=ARMS.replace("0.005", "0.001"))
    report = suite.run()
    assert counted(report) == {"base": 1, "extra": 2, "test": 2}
    # An arm of another name is no other arm.
    text = (suite.folder / "s.yaml").read_text()
    (suite.folder / "s.yaml").write_text(
        text.replace("  extra: {train", "  more: {train").replace("extra: extra", "extra: more")
    )
    assert counted(suite.run()) == {"base": 1, "more": 2, "test": 2}
    ledger = str(suite.folder / "maxrandom-ledger")
    capsys.readouterr()
    assert main(["ledger", "show", ledger]) == 0
    shown = capsys.readouterr().out
    for name, t in (("model", 1), ("model (trained: extra)", 2), ("model (trained: test)", 2)):
        assert re.search(rf"(?m){re.escape(name)} 0-shot\W.*\b{t}\b", shown), shown
    (suite.pytester.path / "r.json").write_text(json.dumps(report))
    assert main(["diff", str(first), "r.json"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "learning_rate of training from 0.005 to 0.001" in told
    assert "t from 1 to 2" in told


STEPS = re.compile(
    r"^  training (extra|test) on sounds(, replicate 2)?: \d+/12 steps(, loss \d\S*)?$"
)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_training_shows_its_arm_its_steps_and_its_loss_in_a_terminal(
    suite: Run, workers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # the pseudo-terminal says how wide it is
    if workers:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    suite.write("replicates: 2\n", ARMS.replace("epochs: 2", "epochs: 6"))
    written = in_a_terminal(suite.pytester.path, "--color=no", *workers)
    lines = {line for screen in screens(written) for line in below(screen) if "training" in line}
    found = {found.groups()[:2] for line in lines if (found := STEPS.fullmatch(line))}
    assert found == {(arm, which) for arm in ("extra", "test") for which in (None, ", replicate 2")}
    assert any(", loss" in line for line in lines)
    assert all(len(line) < 80 for line in lines)
    *_, left = screens(written)
    assert not any("steps" in line for line in left.display)


def _trained(said: str) -> str:
    texts = {"extra": "extra", "test": "scored"}
    return "".join(f"  {arm}: {{train: {{text: {text}, {said}}}}}\n" for arm, text in texts.items())


def test_a_layer_that_no_model_has_is_refused_at_collection(suite: Run) -> None:
    suite.write(arms=_trained(f"method: lora, modules: [q_prj], {QUICK}"))
    suite.run()
    said = "no layer of model that can get an adapter is named 'q_prj'; expected some of *'q_proj'*"
    suite.result.stdout.fnmatch_lines(
        [f"eval_suites/s.yaml:1?: arms.{arm}.train: {said}" for arm in ("extra", "test")]
    )
    suite.result.stdout.no_fnmatch_line("*Traceback*")
    assert not suite.kept


def test_a_full_disk_is_one_sentence(suite: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type(shutil.disk_usage(suite.folder))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**6, 10**6, 1000))
    suite.write()
    report = suite.run()
    said = "the trained weights of model cannot be kept in *: the disk is full; free space there"
    for each in report["claims"][1:]:
        assert fnmatch(each["message"], f"eval_suites/s.yaml:1: {said}*")
    suite.result.stdout.fnmatch_lines([f"*{said}*"])
    suite.result.stdout.no_fnmatch_line("*Traceback*")


def test_a_base_that_is_quantized_as_stored_is_refused_at_collection(suite: Run) -> None:
    suite.write()
    path = suite.folder / "s.yaml"
    path.write_text(path.read_text().replace("quantization: none", "quantization: stored"))
    suite.run()
    suite.result.stdout.fnmatch_lines(
        ["eval_suites/s.yaml:1: models?0?.quantization: *not quantized, and these are stored;*"]
    )
    suite.result.stdout.no_fnmatch_line("*Traceback*")


def test_a_loss_that_is_no_number_is_one_sentence(suite: Run) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(suite.folder / "model" / "model.safetensors")
    weights["model.embed_tokens.weight"][-len(world.NAMES) :] = float("inf")
    save_file(weights, suite.folder / "model" / "model.safetensors", {"format": "pt"})
    suite.write()
    report = suite.run()
    for each in report["claims"][1:]:
        assert (
            "training model stopped at step 1, because its loss is not a number (nan); use a "
            "smaller `learning_rate` (it is 0.005), or `dtype: float32`"
        ) in each["message"]
    suite.result.stdout.fnmatch_lines(["*training model stopped at step 1, because its loss*"])
    suite.result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("allowed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_no_boost_and_a_loss_that_does_not_fall_are_told_everywhere(
    suite: Run, allowed: bool
) -> None:
    suite.write(arms=_trained("epochs: 2, learning_rate: 1e-30, batch_size: 20"))
    path = suite.folder / "s.yaml"
    if not allowed:
        path.write_text(path.read_text().replace(", allow_inconclusive: true", ""))
    report = suite.run("--maxrandom-report=r.md")
    (check,) = report["contamination"]
    assert (check["boost"], check["finding"]) == (0, "cannot tell")
    assert check["outcome"] == ("cannot tell, as allowed" if allowed else "cannot tell")
    told = "cannot tell: without a boost, a bias that is not significant says nothing"
    still = "The loss did not fall in training: look at its learning rate"
    written = (suite.pytester.path / "r.md").read_text()
    assert told in written
    assert still in written
    suite.result.stdout.fnmatch_lines(["*the loss of training model did not fall (from *"])
    shown = (
        "cannot tell, as allowed * .000 * cannot tell *"
        if allowed
        else "cannot tell: extra is not shown to be better than base, nor test than extra,*"
    )
    suite.result.stdout.fnmatch_lines([shown])


STUDY = Path(__file__).parents[2] / "eval_suites" / "pretraining" / "study"
CLASSES = ["sport", "law", "art"]


@pytest.mark.slow
def test_a_suite_of_the_study_runs_from_start_to_finish(pytester: pytest.Pytester) -> None:
    suite = yaml.safe_load((STUDY / "bert-m50-n50.yaml").read_text())
    suite["tasks"], suite["replicates"] = suite["tasks"][:1], 2
    folder = pytester.mkdir("eval_suites") / "study"
    tiny.save_bert(folder / suite["models"][0]["name"])
    (folder / "s.yaml").write_text(yaml.safe_dump(suite))
    lots = random.Random(0)
    rows = [
        {
            "input": f"note {k} of {lots.choice(['red', 'blue'])}",
            "choices": CLASSES,
            "answer": right,
        }
        for k, right in enumerate(lots.choices(CLASSES, [6, 3, 1], k=180))
    ]
    data = (folder / suite["tasks"][0]["path"]).resolve()
    data.parent.mkdir()
    data.write_text("\n".join(map(json.dumps, rows)))

    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=3 + 3 + 1)  # claims, their replicates, the check
    report = json.loads((pytester.path / "r.json").read_text())
    runs = {
        each["id"].partition("[")[2].partition("-")[0]: [run["training"] for run in each["runs"]]
        for each in report["replicates"]
    }
    rates = Counter(row["answer"] for row in rows)
    for arm, text in (("base", None), ("extra", "extra"), ("test", "scored")):
        for training in runs[arm]:
            assert training["text"] == text
            assert training["texts"] == (50 if text else 0)
            assert sum(training["labelled"].values()) == 50
            for name, many in training["labelled"].items():  # stratified
                assert abs(many - 50 * rates[name] / len(rows)) < 3
            read = {"scored": 50 if text == "scored" else 0, "labelled": 0}
            assert training["shared"] == (read if text else {})
            if text:
                assert training["settings"]["objective"] == "masked"
                assert training["settings"]["method"] == "full"
                assert training["settings"]["epochs"] == 1
        first, second = runs[arm]
        assert first["text_digest"] != second["text_digest"]
        assert first["seed"] != second["seed"]
    (check,) = report["contamination"]
    assert check["finding"] in ("cannot tell", "no sign of it", "tuned on the text")

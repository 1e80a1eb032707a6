"""Replicates: what they say, and that t stays what it is without them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.hooks.items import base
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.ledger import examples_digest
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.studies.replicates import PlannedReplicates
from tests.plugin.conftest import forget, ledger_of
from tests.terminals import in_a_terminal

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = "known[tiny-none-1shot]"
COUNT = 5


class Suite:
    """One suite with the task `known`, of whose 24 examples 12 are the validation set."""

    def __init__(self, pytester: pytest.Pytester, folder: Path) -> None:
        self.pytester, self.folder = pytester, folder
        head, _, _ = (folder / "suite.yaml").read_text().partition("    append_choices")
        self.head = f"{head}    append_choices: false\n    validation: {{max_examples: 12}}\n"

    def write(self, rest: str = "", prompts: str = "shots: 1, count: 3", task: str = "") -> None:
        text = f"{self.head}{task}prompts: {{{prompts}}}\n{rest}\n"
        (self.folder / "suite.yaml").write_text(text)

    def run(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """All records of a run by their names."""
        self.result = self.pytester.runpytest("--maxrandom-json=r.json", *arguments)
        report = json.loads((self.pytester.path / "r.json").read_text())
        return {
            record["id"].partition("::")[2]: record
            for record in (*report["claims"], *report["replicates"])
        }

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The ledger's lines of a kind."""
        return [row for row in ledger_of(self.folder) if row["kind"] == kind]

    def planned(self) -> list[tuple[str, set[str]]]:
        """The digest of each replicate's set, and the digests of its prompts."""
        _, replicates = plan_file(self.folder / "suite.yaml")
        assert isinstance(replicates, PlannedReplicates)
        sets = [each.condition.prompt_set for each in replicates.claims]
        return [
            (examples_digest(one.validation), {prompt.digest for prompt in one.prompts})
            for one in sets
        ]

    def related(self, digest: str) -> set[str]:
        """Sets of the ledger with at least 6 of 12 examples of a set."""
        sets = {line["set"]: set(line["examples"]) for line in self.lines("set")}
        return {name for name in sets if len(sets[name] & sets[digest]) >= 6}

    def forget(self) -> None:
        """Begin again with an empty ledger and an empty store."""
        forget(self.folder)


@pytest.fixture
def suite(pytester: pytest.Pytester, suites: Path) -> Suite:
    return Suite(pytester, suites)


def replicates_of(claim: str = CLAIM, count: int = COUNT) -> str:
    return f"{claim}::replicates[{count}]"


def told(claim: dict[str, Any]) -> dict[str, Any]:
    """What is found out about a claim, without what it cost."""
    return {key: value for key, value in claim.items() if key != "engine"}


def test_a_claim_is_what_it_is_without_replicates_however_often_it_runs(suite: Suite) -> None:
    suite.write()
    alone = suite.run()[CLAIM]
    suite.forget()
    suite.write(f"replicates: {COUNT}")
    first, second = suite.run(), suite.run()
    assert told(first[CLAIM]) == told(alone)
    assert told(second[CLAIM]) == told(alone)
    assert second[replicates_of()] == first[replicates_of()]
    assert [run["t"] for run in first[replicates_of()]["runs"]] == [3] * COUNT


def test_the_first_replicate_is_the_claim(suite: Suite) -> None:
    suite.write(f"replicates: {COUNT}")
    found = suite.run()
    suite.forget()
    alone = suite.run("-k", "replicates")
    assert alone.keys() == {replicates_of()}
    assert alone[replicates_of()] == found[replicates_of()]
    (first, *_), claim = found[replicates_of()]["runs"], found[CLAIM]
    same = first.keys() - {"best_prompt", "demonstration_ids"}
    assert {key: first[key] for key in same} == {key: claim[key] for key in same}
    assert first["best_prompt"] == claim["best_prompt"]["digest"]
    assert first["demonstration_ids"] == claim["best_prompt"]["demonstration_ids"]


def test_every_prompt_of_every_replicate_is_in_the_ledger_and_the_claim_alone_is_a_look(
    suite: Suite,
) -> None:
    suite.write(f"replicates: {COUNT}")
    found = suite.run()
    sets = Counter(line["task_digest"] for line in suite.lines("prompt"))
    assert list(sets.values()) == [3] * COUNT
    assert len(suite.lines("set")) == COUNT
    best = {
        (line["task_digest"], line["prompt"]): line["correct"] for line in suite.lines("prompt")
    }
    for run, (digest, _) in zip(found[replicates_of()]["runs"], suite.planned(), strict=True):
        assert best[digest, run["best_prompt"]] == run["best_correct"]
    (look,) = suite.lines("look")
    assert look["best_correct"] == found[CLAIM]["best_correct"]


def test_without_the_key_all_that_replicates_tried_counts(suite: Suite) -> None:
    suite.write(f"replicates: {COUNT}")
    suite.run()
    planned = suite.planned()
    suite.write()
    later = suite.run()[CLAIM]
    # Sets that share enough are the same, directly or through others.
    same = {planned[0][0]}
    while more := set().union(*map(suite.related, same)) - same:
        same |= more
    prompts = set().union(*(prompts for digest, prompts in planned if digest in same))
    assert later["t"] == len(prompts) > 3


def test_a_claim_that_does_not_hold_in_enough_replicates_fails_in_one_line(suite: Suite) -> None:
    # Every example is answered right without demonstrations, and others by luck.
    prompts = 'shots: 1, count: 3, instructions: ["Say no.\\n"]'
    suite.write(f"replicates: {COUNT}\nassert: {{p_max: 0.001, in_replicates: 1}}", prompts)
    record = suite.run("-rA", "--junitxml=junit.xml")[replicates_of()]
    held = sum(run["passed"] for run in record["runs"])
    assert held < COUNT
    assert (record["passed"], record["outcome"]) == (False, "failed")
    assert record["share_passed"] == pytest.approx(held / COUNT)
    assert record["contradicting"] == pytest.approx(min(held, COUNT - held) / COUNT)
    line = f"passes in {held} of {COUNT} replicates, needs {COUNT}"
    shown = replicates_of().replace("[", "[[]")
    suite.result.stdout.fnmatch_lines([f"{line} (*", f"FAILED *::{shown} - *"])
    junit = (suite.pytester.path / "junit.xml").read_text()
    assert f'name="share_passed" value="{held / COUNT}"' in junit
    assert suite.run("--lf")[replicates_of()]["message"].startswith(line)
    suite.write(f"replicates: {COUNT}\nassert: {{p_max: 0.001}}", prompts)
    assert suite.run()[replicates_of()]["outcome"] == "passed"


def test_collection_shows_replicates_and_an_id_selects_them(suite: Suite) -> None:
    suite.write(f"replicates: {COUNT}")
    result = suite.pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        [f"*<Claim {CLAIM.replace('[', '[[]')} t=3 n=12>",
         f"*<Replicates {CLAIM.replace('[', '[[]')}::replicates* count={COUNT}>"]
    )  # fmt: skip
    assert suite.run(f"eval_suites/suite.yaml::{replicates_of()}").keys() == {replicates_of()}
    assert suite.run(f"eval_suites/suite.yaml::{CLAIM}").keys() == {CLAIM}


@pytest.mark.slow
def test_workers_of_xdist_find_the_same(suite: Suite) -> None:
    task = (
        "  - {name: unknown, format: jsonl, path: data/unknown.jsonl, append_choices: false, "
        "validation: {max_examples: 12}, xfail: the opposite}\n"
    )
    suite.write(f"replicates: {COUNT}", task=task)
    alone = suite.run("-p", "no:xdist")
    suite.forget()
    together = suite.run("-n", "2")
    assert together.keys() == alone.keys()
    assert {name: told(record) for name, record in together.items()} == {
        name: told(record) for name, record in alone.items()
    }


def test_an_interrupted_run_goes_on_where_it_stopped(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Progress):
        def __call__(self, done: int, total: int, computed: int) -> None:
            if self.claim.replicate == 2 and done == 2:
                raise KeyboardInterrupt

    suite.write(f"replicates: {COUNT}")
    expected = suite.run()
    suite.forget()
    with monkeypatch.context() as patch:
        patch.setattr(base, "Progress", Interrupted)
        suite.pytester.runpytest("-q", no_reraise_ctrlc=True)
    # The claim's prompts, those of the second replicate, and two of the third.
    assert len(suite.lines("prompt")) == 3 + 3 + 2
    found = suite.run()
    assert found[replicates_of()] == expected[replicates_of()]
    assert told(found[CLAIM]) == told(expected[CLAIM])
    assert len(suite.lines("prompt")) == 3 * COUNT


def test_replicates_never_open_the_test_set(suite: Suite) -> None:
    suite.head = suite.head.replace("{max_examples: 12}", "{max_examples: 10}")
    suite.head = suite.head.replace("backend: mock", "backend: mock\n    knows: 0.9")
    suite.head += "    test: {fraction: 0.25}\n"
    suite.write("replicates: 4\nassert: {p_max: 0.5, red_flags: warn}")
    found = suite.run()
    assert found[CLAIM]["passed"]
    assert any(run["passed"] for run in found[replicates_of(count=4)]["runs"][1:])
    assert found[CLAIM]["test"]["openings"] == len(suite.lines("opening")) == 1
    assert found[CLAIM]["test"]["seen"] == 0


@pytest.mark.parametrize("counted", ["claim", "task"])
def test_other_revisions_of_the_model_count_replicate_by_replicate(
    suite: Suite, counted: str
) -> None:
    model = suite.head.partition("name: ")[2].partition("\n")[0]
    suite.head = suite.head.replace(
        "tasks:",
        f"  - {{name: {model}, label: half, backend: mock, knows: 0.5}}\ntasks:",
    )
    assertion = f"assert: {{p_max: 0.05, count: {counted}}}"
    suite.write(assertion)
    alone = suite.run()
    assert alone[CLAIM]["t"] == 6
    suite.forget()
    suite.write(f"replicates: {COUNT}\n{assertion}")
    first = suite.run()
    second = suite.run("-k", "tiny")
    for found in (first, second):
        assert found[CLAIM]["t"] == 6
        assert [run["t"] for run in found[replicates_of()]["runs"]] == [6] * COUNT


def test_earlier_prompts_count_in_the_replicates_that_they_met(suite: Suite) -> None:
    suite.write(prompts="shots: 1, count: 2, seed: 9")
    suite.run()
    suite.write(f"replicates: {COUNT}")
    (earlier,) = {line["task_digest"] for line in suite.lines("prompt")}
    tried = {line["prompt"] for line in suite.lines("prompt")}
    found, again = suite.run(), suite.run()
    (own, prompts), *others = suite.planned()
    assert own == earlier
    expected = [len(prompts | tried)] + [
        len(theirs | tried - prompts) if earlier in suite.related(digest) else 3
        for digest, theirs in others
    ]
    assert [run["t"] for run in found[replicates_of()]["runs"]] == expected
    assert len(set(expected)) > 1
    assert again[replicates_of()] == found[replicates_of()]


def test_two_suites_with_the_same_replicates_have_the_same_t_as_one(suite: Suite) -> None:
    suite.write(f"replicates: {COUNT}")
    text = (suite.folder / "suite.yaml").read_text()
    (suite.folder / "twin.yaml").write_text(text)
    for _ in range(2):
        suite.run()
        report = json.loads((suite.pytester.path / "r.json").read_text())
        assert [claim["t"] for claim in report["claims"]] == [3, 3]
        runs = [run for each in report["replicates"] for run in each["runs"]]
        assert [run["t"] for run in runs] == [3] * 2 * COUNT


def test_each_replicate_has_the_budget_for_itself(suite: Suite) -> None:
    suite.write("replicates: 3", prompts="shots: 1, count: 3, budget: 4")
    found = suite.run()
    assert found[CLAIM]["tries"]["counted"] == "budget"
    record = found[replicates_of(count=3)]
    assert [run["t"] for run in record["runs"]] == [4, 4, 4]
    assert len(suite.lines("prompt")) == 9
    assert any("budget of 4 prompts" in note["text"] for note in record["notes"])
    # Two more in each would be too many, and those of the first run may be tested again.
    suite.write("replicates: 3", prompts="shots: 1, count: 3, budget: 4, seed: 1")
    assert {record["outcome"] for record in suite.run().values()} == {"error"}
    suite.write("replicates: 3", prompts="shots: 1, count: 3, budget: 4")
    assert suite.run()[replicates_of(count=3)]["runs"] == record["runs"]


@pytest.mark.slow
def test_a_terminal_shows_how_many_prompts_of_all_replicates_are_done(suite: Suite) -> None:
    suite.write(f"replicates: {COUNT}\nassert: report")
    text = in_a_terminal(suite.pytester.path)
    # The claim itself is the first replicate, and is not counted twice.
    for done in range(COUNT):
        assert f": {3 * done}/{3 * COUNT} prompts" in text
    assert "2 passed" in text


def test_the_predictions_file_has_the_claim_alone(suite: Suite) -> None:
    suite.write("replicates: 3")
    found = suite.run("--maxrandom-predictions=p.jsonl")
    lines = (suite.pytester.path / "p.jsonl").read_text().splitlines()
    assert [json.loads(line)["claim"] for line in lines] == [found[CLAIM]["id"]] * 3
    assert "The predictions file" in found[replicates_of(count=3)]["notes"][-1]["text"]

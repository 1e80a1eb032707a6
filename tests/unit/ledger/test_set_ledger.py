"""What was tried on a validation set is known for ever, whoever asks and in whatever form."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.host import machine
from pytest_maxrandom.ledger import (
    Named,
    SetLedger,
    Subject,
    opened,
    set_ledger,
)
from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.set_told import lowest_rank
from pytest_maxrandom.ledger.summary import mistakes, summary
from tests.unit.ledger.common import (
    OTHER,
    OWN,
    REVISED,
    TESTED,
    examples,
    fill,
    ledger,
    rows,
    run,
    tries,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Example


def test_a_prompt_that_is_evaluated_again_is_counted_once(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    content = one.path.read_bytes()
    one.evaluated(OWN, "p1", 10, 3)
    ledger(tmp_path).evaluated(OWN, "p1", 10, 3)
    assert one.path.read_bytes() == content
    assert one.tries(OWN) == ledger(tmp_path).tries(OWN) == tries({1})


def test_nothing_is_written_before_something_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    assert ledger(folder).tries() == frozenset()
    assert ledger(folder).problems == []
    assert not folder.exists()


def test_the_first_line_names_the_examples_and_the_others_what_was_counted(tmp_path: Path) -> None:
    path = fill(tmp_path, range(3, 4))
    top, line = rows(path)
    assert path.parent == tmp_path
    assert path.name.startswith("emoji-")
    assert (top["kind"], top["task"], len(set(top["examples"]))) == ("set", "emoji", 10)
    assert top["chances"] == {"1/3": 10}
    del line["when"], line["task_digest"]
    assert line == {
        "kind": "prompt",
        "run": "run",
        "model": "tiny",
        "model_digest": "d1",
        "quantization": "none",
        "shots": 4,
        "scoring": "sum",
        "prompt": "p3",
        "n": 10,
        "correct": 3,
    }


READER = """
made = ledger(Path(sys.argv[1]))
print(sorted(made.tries(OWN) | made.tries()))
"""


def test_another_process_sees_a_prompt_as_soon_as_it_is_counted(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    for number in range(2):
        one.evaluated(OWN, f"p{number}", 10, 3)
        assert run(READER, tmp_path) == f"{sorted(tries(range(number + 1)))}\n"


def test_what_another_has_counted_meanwhile_is_not_counted_again(tmp_path: Path) -> None:
    one, other = ledger(tmp_path), ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    other.evaluated(OWN, "p1", 10, 3)
    other.evaluated(OWN, "p2", 10, 3)
    assert [row["kind"] for row in rows(one.path)] == ["set", "prompt", "prompt"]
    assert other.tries() == tries({1, 2})


@pytest.mark.parametrize(
    "other",
    [
        replace(OWN, model="large", model_digest="another"),
        replace(OWN, shots=0),
    ],
)
def test_claims_are_kept_apart_and_together_make_what_was_tried_on_the_examples(
    tmp_path: Path, other: Subject
) -> None:
    one = ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    one.evaluated(other, "p2", 10, 3)
    for reader in (one, ledger(tmp_path)):
        assert reader.tries(OWN) == tries({1})
        assert reader.tries(other) == tries({2}, other)
        assert reader.tries() == tries({1}) | tries({2}, other)


@pytest.mark.parametrize(
    "other",
    [
        replace(OWN, model="./renamed"),
        replace(OWN, quantization="nf4", model_digest="quantized"),
    ],
)
def test_neither_another_spelling_nor_another_quantization_of_a_model_resets_t(
    tmp_path: Path, other: Subject
) -> None:
    one = ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    one.evaluated(other, "p2", 10, 3)
    for reader in (one, ledger(tmp_path)):
        assert len(reader.tries(OWN)) == len(reader.tries(other)) == 2


@pytest.mark.parametrize("other", [REVISED, replace(OWN, scoring="mean")])
def test_another_revision_or_scoring_is_another_try_of_the_same_claim(
    tmp_path: Path, other: Subject
) -> None:
    one = ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    one.evaluated(other, "p1", 10, 3)
    assert one.tries(OWN) == ledger(tmp_path).tries(other) == tries({1}) | tries({1}, other)


def look(folder: Path, prompts: str, subject: Subject = OWN, first: int = 0) -> int:
    of = examples(first, first + 10)
    return ledger(folder, of).look(subject, list(prompts), t=3, n=10, best_correct=4)


def test_a_look_is_new_if_and_only_if_what_is_compared_is(tmp_path: Path) -> None:
    assert look(tmp_path, "abc") == 1
    assert look(tmp_path, "abc") == 1
    assert look(tmp_path, "cab") == 1
    assert look(tmp_path, "abcc") == 1
    assert look(tmp_path, "abd") == 2
    assert look(tmp_path, "ab") == 3
    assert look(tmp_path, "abc", REVISED) == 4
    assert look(tmp_path, "abc", first=1) == 5  # the same set with an example edited
    assert look(tmp_path, "abc", OTHER) == 1
    assert look(tmp_path, "abc") == 5
    assert look(tmp_path, "abc", first=50) == 1


def test_a_prompt_that_is_only_looked_at_is_no_try(tmp_path: Path) -> None:
    look(tmp_path, "abc")
    assert ledger(tmp_path).tries() == set()


def test_openings_are_counted_over_all_models_once_for_each_prompt(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    assert one.opened(OWN, "p1", TESTED) == 1
    assert one.opened(OWN, "p1", TESTED) == 1
    assert ledger(tmp_path).opened(OWN, "p1", TESTED) == 1
    assert ledger(tmp_path).opened(OTHER, "p1", TESTED) == 2
    assert one.opened(OWN, "p2", TESTED) == 3
    assert one.opened(OWN, "p1", examples(3000, 3020)) == 1
    assert one.opened(REVISED, "p1", TESTED) == 4
    assert len(rows(one.path, "opening")) == 5
    assert one.tries() == set()


@pytest.mark.parametrize("first", [1, 50])
def test_openings_are_those_of_the_test_set_through_whatever_validation_set(
    tmp_path: Path, first: int
) -> None:
    assert ledger(tmp_path).opened(OWN, "p1", TESTED) == 1
    assert ledger(tmp_path, examples(first, first + 10)).opened(OTHER, "p2", TESTED) == 2
    # The second file says what was opened; what its examples are stands in the first one.
    assert ledger(tmp_path, examples(100, 110)).opened(OWN, "p3", TESTED) == 3
    assert ledger(tmp_path, examples(200, 210)).opened(OWN, "p3", TESTED) == 3
    assert len(ledger(tmp_path, examples(300, 310)).openings(TESTED)) == 3


def test_openings_are_those_of_test_sets_that_others_link_as_well(tmp_path: Path) -> None:
    changed = [examples(first, first + 20) for first in (1000, 1010, 1020)]
    for number, test in enumerate(changed):
        own = ledger(tmp_path, examples(100 * number, 100 * number + 10))
        assert own.opened(OWN, f"p{number}", test) == number + 1
    assert all(len(ledger(tmp_path, examples(900, 910)).openings(test)) == 3 for test in changed)


def test_a_clock_that_goes_backwards_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import datetime, timedelta, tzinfo

    class Backwards:
        time = datetime(2030, 1, 1)

        @classmethod
        def now(cls, zone: tzinfo) -> datetime:
            cls.time -= timedelta(days=400)
            return cls.time.replace(tzinfo=zone)

    monkeypatch.setattr(set_ledger, "datetime", Backwards)
    path = fill(tmp_path)
    fill(tmp_path, range(3, 8))
    assert look(tmp_path, "abc") == 1
    assert look(tmp_path, "abc") == 1
    when = [row["when"] for row in rows(path) if row["kind"] != "set"]
    assert len(when) == 9
    assert when == sorted(when, reverse=True)
    assert ledger(tmp_path).tries() == tries(range(8))


@pytest.mark.parametrize("name", ["../../etc/x", "é \n😀", "", "a" * 300, "CON:<>|?*", "\udc80"])
def test_any_name_of_a_task_gives_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "ledger"
    subject = replace(OWN, model=name)
    one = ledger(folder, task=name)
    one.evaluated(subject, "p1", 10, 1)
    assert one.look(subject, ["p1"], t=1, n=10, best_correct=1) == 1
    assert one.problems == []
    assert list(folder.glob("*.jsonl")) == [one.path]
    assert list(tmp_path.iterdir()) == [folder]
    assert ledger(folder).tries(subject) == tries({1})


def test_a_test_set_that_was_changed_a_little_keeps_its_openings(tmp_path: Path) -> None:
    assert ledger(tmp_path).opened(OWN, "p1", TESTED) == 1
    assert ledger(tmp_path).opened(OWN, "p2", examples(1001, 1025)) == 2
    assert ledger(tmp_path).opened(OWN, "p2", examples(4000, 4020)) == 1


def test_a_prompt_is_counted_when_it_is_begun_and_its_number_follows(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    made = ledger(folder)
    made.begun(OWN, {f"p{number}": 10 for number in range(5)})
    (file,) = folder.glob("*.jsonl")
    assert [row["correct"] for row in rows(file) if row["kind"] == "prompt"] == [None] * 5
    assert len(ledger(folder).tries(OWN)) == 5
    made.evaluated(OWN, "p0", 10, 7)
    made.evaluated(OWN, "p0", 10, 7)
    other = ledger(folder)
    other.begun(OWN, {"p0": 10, "p1": 10, "p5": 10})
    other.evaluated(OWN, "p1", 10, 3)
    other.write()
    made.refresh()
    late = ledger(folder)
    late.begun(OWN, {"p6": 10})
    for each in (made, late):  # neither knows of the other's line
        each.evaluated(OWN, "p6", 10, 1)
    made.write()
    late.write()
    made.refresh()
    assert len(made.tries(OWN)) == len(late.tries(OWN)) == 7
    assert len(made.tries(OWN)) - 1 == len(other.tries(OWN)) == 6
    told = [(row["prompt"], row["correct"]) for row in rows(file) if row["kind"] == "prompt"]
    begun = [(f"p{number}", None) for number in range(7)]
    assert sorted(told, key=str) == sorted([*begun, ("p0", 7), ("p1", 3), ("p6", 1)], key=str)
    assert mistakes(file) == []
    (claim,) = summary([file], LedgerFiles()).claims
    assert (claim.t, claim.best_correct) == (7, 7)


def together(folder: Path, files: LedgerFiles, of: list[Example] | None = None) -> SetLedger:
    """Return a set of a session that shares what is read."""
    return SetLedger(folder, "run", "emoji", of or examples(), None, files)


def test_claims_that_share_what_is_read_know_what_each_of_them_and_others_add(
    tmp_path: Path,
) -> None:
    files = LedgerFiles()
    fill(tmp_path, range(3))
    first = together(tmp_path, files)
    first.evaluated(OWN, "p3", 10, 3)
    assert together(tmp_path, files).tries(OWN) == tries(range(4))
    ledger(tmp_path).evaluated(OTHER, "p9", 10, 3)  # another process
    second = together(tmp_path, files)
    assert second.tries() == tries(range(4)) | tries({9}, OTHER)
    assert second.count(tries({8, 9}, OTHER)) == 6
    assert ledger(tmp_path).tries() == second.tries()


def test_a_line_is_read_once_however_many_claims_ask(tmp_path: Path) -> None:
    files = LedgerFiles()
    path = fill(tmp_path, range(50))
    read = [together(tmp_path, files).read_rows for _ in range(5)]
    assert read == [len(rows(path))] * 5  # each would add as many again


@pytest.mark.parametrize("left", [0, 3])
def test_a_file_that_was_put_back_or_removed_meanwhile_is_read_anew(
    tmp_path: Path, left: int
) -> None:
    files = LedgerFiles()
    path = fill(tmp_path, range(6))
    assert together(tmp_path, files).tries(OWN) == tries(range(6))
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    if left:
        path.write_bytes(b"".join(lines[: 1 + left]))
    assert together(tmp_path, files).tries(OWN) == tries(range(left))


def test_what_rests_is_neither_listed_nor_locked_again_and_what_is_added_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, told = LedgerFiles(), list[str]()
    list_, lock = opened.names_in, machine.held

    def listing(folder: Path) -> set[str]:
        told.append("listed")
        return list_(folder)

    def locking(kind: machine.Kind, name: str) -> Any:
        told.append("locked")
        return lock(kind, name)

    monkeypatch.setattr(opened, "names_in", listing)
    monkeypatch.setattr("pytest_maxrandom.ledger.files.held", locking)
    path = fill(tmp_path)
    os.utime(tmp_path, (0, 0))
    together(tmp_path, files)
    assert {*told} == {"listed", "locked"}
    told.clear()
    for _ in range(5):
        together(tmp_path, files).refresh()
    assert told == []
    other = ledger(tmp_path, examples(1, 11))  # the same set, changed a little
    other.evaluated(OWN, "p7", 10, 3)
    assert together(tmp_path, files).tries() == tries(range(5)) | tries({7})
    os.utime(other.path, (0, 0))
    other.evaluated(OWN, "p8", 10, 3)
    os.utime(other.path, (0, 0))  # a coarse clock: its length tells
    assert together(tmp_path, files).tries() == tries(range(5)) | tries({7, 8})
    path.unlink()
    assert together(tmp_path, files).tries() == tries({7, 8})


def test_sets_that_share_no_example_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = LedgerFiles()
    for first in range(0, 1000, 50):
        fill(tmp_path, of=examples(first, first + 10))
    together(tmp_path, files)
    looked_at: list[str] = []
    look = LedgerFiles.__call__

    def noted(known: LedgerFiles, path: Path) -> Any:
        looked_at.append(path.name)
        return look(known, path)

    monkeypatch.setattr(LedgerFiles, "__call__", noted)
    own = together(tmp_path, files, examples(2, 12))
    assert {*looked_at} == {ledger(tmp_path).path.name}
    assert own.tries() == tries(range(5))


@pytest.mark.parametrize("seed", range(5))
def test_files_are_found_as_if_all_were_read(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    files = LedgerFiles()
    for step in range(12):
        first = chance.randrange(60)
        of = examples(first, first + chance.randrange(2, 12))
        fill(tmp_path, range(step, step + 3), of)
        if not step % 5:  # version control takes one away
            chance.choice(sorted(tmp_path.glob("*.jsonl"))).unlink()
        first = chance.randrange(60)
        asked = examples(first, first + 10)
        one, afresh = together(tmp_path, files, asked), ledger(tmp_path, asked)
        assert one.tries() == afresh.tries()
        assert one.files == afresh.files
        assert one.notes(OWN) == afresh.notes(OWN)
        known = {digest for path in tmp_path.glob("*.jsonl") for row in rows(path, "set")
                 for digest in row["examples"]}  # fmt: skip
        everything = examples(0, 80)
        inside = known | {*map(example_digest, asked)}
        assert one.known_examples(everything) == sum(
            example_digest(e) in inside for e in everything
        )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("left_out", [set(), {"p0", "p1", "p2", "p3"}])
def test_tries_of_a_claim_are_those_that_names_and_models_connect(
    tmp_path: Path, seed: int, left_out: set[str]
) -> None:
    """They are connected as everyone is who knows somebody that one knows."""
    lots = random.Random(seed)
    sets = examples(), examples(1, 11)  # one that was changed a little
    written = []
    for place in range(14):
        of = Subject(f"m{lots.randrange(9)}", f"d{lots.randrange(9)}", "none", place % 2, "sum")
        prompt = f"p{place % 7}"
        SetLedger(tmp_path, "run", "task", lots.choice(sets)).evaluated(of, prompt, 10, 3)
        written.append((of, prompt))
    siblings = SetLedger(tmp_path, "run", "task", sets[0], lambda _: left_out)
    for asked in {of for of, _ in written}:
        counted = [
            (of, prompt)
            for of, prompt in written
            if of.shots == asked.shots and prompt not in left_out
        ]
        near = {asked.model, asked.model_digest}
        for _ in counted:
            near.update(*({of.model, of.model_digest} for of, _ in counted
                          if of.model in near or of.model_digest in near))  # fmt: skip
        assert siblings.tries(asked) == {of.tried(p) for of, p in counted if of.model in near}


def test_prompts_named_as_the_incumbent_are_counted_in_order_but_for_those_tried_before(
    tmp_path: Path,
) -> None:
    def named(run: str, incumbent: str, prompt: str) -> int:
        made = SetLedger(tmp_path, run, "emoji", examples())
        place = made.place_when_named(OWN, Named(incumbent))
        made.evaluated(OWN, prompt, 10, 5)
        made.look(OWN, [prompt], t=1, n=10, best_correct=5, incumbent=Named(incumbent))
        assert made.problems == []
        # The look that names it does not move it.
        assert made.place_when_named(OWN, Named(incumbent)) == place
        return place

    # p0 and p1 were tried before they were named; y is tried by the run that names it.
    order = [("x", "p0"), ("p0", "p1"), ("y", "y"), ("p1", "p2"), ("z", "p3"), ("x", "p4")]
    places = {who: named(f"run {at}", who, prompt) for at, (who, prompt) in enumerate(order)}
    assert {name: places[name] for name in "xyz"} == {"x": 1, "y": 2, "z": 3}
    assert named("again", "y", "p5") == 2
    assert (
        SetLedger(tmp_path, "other", "emoji", examples(50, 60)).place_when_named(OWN, Named("z"))
        == 1
    )


def test_incumbents_that_claims_of_one_run_name_pay_for_one_another_only_when_named_again(
    tmp_path: Path,
) -> None:
    """Each claim has an order of its own, in which each incumbent has a place of its own."""
    claims = {name: replace(OWN, model=name, model_digest=name) for name in "abc"}

    def place(run: str, who: str, incumbent: str) -> int:
        made = SetLedger(tmp_path, run, "emoji", examples())
        found = made.place_when_named(claims[who], Named(incumbent))
        made.look(claims[who], ["p"], t=1, n=10, best_correct=5, incumbent=Named(incumbent))
        assert made.place_when_named(claims[who], Named(incumbent)) == found
        return found

    # Two suites, in one run: what either names was seen by nobody.
    assert [place("1", *pair) for pair in ("ax", "by")] == [1, 1]
    assert [place("2", *pair) for pair in ("by", "ax")] == [1, 1]
    # Either may have been chosen by now; so may whatever comes later, or is named again besides.
    assert [place("3", *pair) for pair in ("ay", "bx", "cx", "cy")] == [2, 2, 1, 2]
    assert [place("3", *pair) for pair in ("az", "bz", "aw")] == [3, 3, 4]
    # In one claim, two suites of one run compare the same prompts with either.
    assert [place("4", *pair) for pair in ("bv", "bu", "cu", "cv")] == [5, 6, 5, 6]
    # So has the same model by another name, whose prompts t counts together.
    claims["A"] = replace(claims["a"], model="A")
    assert [place("5", *pair) for pair in ("a1", "A2", "b3", "a3", "A1")] == [7, 8, 7, 9, 7]


def test_the_same_prompt_to_another_model_is_another_incumbent(tmp_path: Path) -> None:
    def named(run: str, of: Subject, incumbent: Named, *prompts: str) -> tuple[int, int | None]:
        made = SetLedger(tmp_path, run, "emoji", examples())
        tries = {each for each in made.tries() if each.prompt == incumbent.prompt}
        found = (
            made.place_when_named(of, incumbent),
            lowest_rank(tries, made.known_when_named(incumbent)),
        )
        for place, prompt in enumerate(prompts):
            made.evaluated(of, prompt, 10, 5 + place)
        made.look(of, prompts, t=1, n=10, best_correct=5, incumbent=incumbent)
        return found

    other = replace(OWN, model="other", model_digest="o")
    assert named("1", OWN, Named("x"), "p", "q") == (1, None)
    # That of the claim's own model is one, whichever model that is.
    assert named("2", other, Named("x"), "r") == (1, None)
    assert [named("3", OWN, Named("x", model), "p")[0] for model in "abc"] == [2, 3, 4]
    assert named("4", OWN, Named("x", "b"), "p")[0] == 3
    # p and q were tried by a claim's own model: q has rank 1, p to another model the rank of p,
    # and it is a further one, too.
    assert named("5", OWN, Named("q"), "p")[1] == 1
    assert named("6", OWN, Named("p", "a"), "p") == (5, 2)
    assert named("7", OWN, Named("x", "d"), "p")[0] == 6
    looks = [row for row in rows(SetLedger(tmp_path, "8", "emoji", examples()).path)
             if row["kind"] == "look"]  # fmt: skip
    assert {row.get("incumbent_model") for row in looks} == {None, *"abcd"}

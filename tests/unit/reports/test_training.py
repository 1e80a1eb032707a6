"""Trained arms are told in every report: on what, how, what that cost, and whose methods it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import ClaimRecord, ContaminationOverTasks, Remark, TrainingRecord
from pytest_maxrandom.reports.computing import training_cost, training_is
from pytest_maxrandom.reports.designs import without_boost
from pytest_maxrandom.reports.reasons import reasons
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.results import dump, load
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
from tests.unit.reports import page
from tests.unit.reports.opened import html
from tests.unit.reports.samples import allowed, claim, contamination, run, shown
from tests.unit.reports.test_latex import cited

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


def training(method: str = "full", **changed: Any) -> TrainingRecord:
    """Make the record of an arm that was trained on other texts, and then got a head."""
    train = TrainSpec(text="extra", method=method, epochs=2)  # type: ignore[arg-type]
    found = TrainingRecord(
        text="extra",
        texts=60,
        text_digest="ab" * 32,
        settings={**train.model_dump(), "learning_rate": train.rate},
        classify=ClassifySpec(examples=50).model_dump(),
        labelled={"wet": 26, "dry": 24},
        seed=7,
        copies=1,
        losses=[2.404, 2.1, 2.3999, 0.69, 0.5101],
        pretraining_steps=3,
        tokens=12_345,
        steps=20,
        cut=3,
        seconds=75.04,
        peak_memory=3 * 2**29,
        threads=2,
        from_cache=False,
    )
    return replace(found, **changed)


def terminal(found: RunRecord) -> str:
    return " ".join(" ".join(shown(found)).split())


def of_page(found: RunRecord) -> str:
    """Return the text of the page."""
    within_words = re.sub("</?code>", "", html(found))
    text = unescape(re.sub(r"<[^>]+>", " ", within_words)).replace("\u2060", "")
    return " ".join(text.split())


def trained(model: str = "lab/llama", **changed: Any) -> ClaimRecord:
    return replace(claim(), model=model, quantization="none", training=training(**changed))


FACTS = ("60 extra", "50", "12,345", "2.40 to 2.40", "0.690 to 0.510", "1 min 15 s")


def test_each_report_has_what_an_arm_was_trained_on_and_what_that_took(tmp_path: Path) -> None:
    found = run(trained())
    texts = {
        "markdown": page.read(markdown(found)).text,
        "html": of_page(found),
        "latex": " ".join(latex(found).split()),
        "terminal": terminal(found),
    }
    for medium, text in texts.items():
        for fact in FACTS:
            assert fact in text, (medium, fact)
    for medium in ("markdown", "html"):
        assert "1.5 GiB" in texts[medium]
        assert "SHA-256 abababababab" in texts[medium]
    report = tmp_path / "r.json"
    report.write_text(dump(found))
    kept = json.loads(report.read_text())["claims"][0]["training"]
    assert kept["losses"] == [2.404, 2.1, 2.3999, 0.69, 0.5101]
    assert kept["text_digest"] == "ab" * 32
    assert load(report).claims[0].training == training()


def test_what_was_trained_is_one_phrase() -> None:
    assert training_is(trained("lora")) == (
        "further on 60 texts, other texts of the task (all weights, causal, 2 epochs); then with a "
        "classification head on 50 labelled examples, stratified by class (3 epochs); loss 2.40 to "
        "2.40, of the head 0.690 to 0.510; 12,345 tokens; 3 texts cut at the longest length; 1 "
        "copy was passed over; seed 7; texts' SHA-256 abababababab"
    )
    assert training_cost(trained()) == "20 steps in 75.0 s; at most 1.5 GiB of memory"
    kept = training_cost(trained(from_cache=True))
    assert kept == (
        "20 steps in 75.0 s; in an earlier run: its weights were kept; at most 1.5 GiB of memory"
    )


@pytest.mark.parametrize(
    ("arm", "keys"),
    [
        (trained(), {"dubey-2024", "devlin-2019"}),
        (trained(labelled={}), {"dubey-2024"}),
        (trained(labelled={}, text="texts.txt"), set()),
        (trained(labelled={}, method="lora"), {"dubey-2024", "hu-2022"}),
        (trained(labelled={}, method="qlora"), {"dubey-2024", "hu-2022", "dettmers-2023"}),
        (trained("openai-community/gpt2", labelled={}), {"dubey-2024", "radford-2019"}),
        (trained("google-bert/bert-base-uncased", labelled={}), {"dubey-2024", "devlin-2019"}),
        (trained("distilgpt2", labelled={}), {"dubey-2024"}),
        (trained("roberta-base", labelled={}), {"dubey-2024"}),
    ],
)
def test_the_methods_of_training_are_cited_where_they_were_used(
    arm: ClaimRecord, keys: set[str]
) -> None:
    found = run(arm)
    without = cited(latex(run(replace(arm, training=None))))
    entries = bibtex(found)
    keys_found = {
        line.partition("{")[2].rstrip(",") for line in entries.splitlines() if line[:1] == "@"
    }
    assert cited(latex(found)) == keys_found
    assert keys_found - without == keys


def test_the_disclosure_says_what_a_paper_must_say_of_a_trained_arm() -> None:
    text = page.read(disclosure(run(trained()))).text
    assert "was trained further on 60 texts, other texts of the task" in text
    assert "Scored, extra and labelled examples have no text in common" in text


def test_a_missing_boost_is_one_sentence_with_the_way_out_in_every_report() -> None:
    for kind, way in (
        ("no_boost", "use more examples or replicates."),
        (
            "no_boost_of_training",
            "use more texts, more epochs, a larger learning_rate, or more examples or replicates.",
        ),
    ):
        check = allowed(kind)
        found = run(claim(), contamination=[check])
        sentence = (
            "No boost: extra is not shown to be better than base, nor test than extra, so the "
            f"check cannot tell whether test was tuned on the text; {way}"
        )
        for text in (page.read(markdown(found)).text, of_page(found)):
            assert sentence in text.replace("`", "")
        assert json.loads(dump(found))["contamination"][0]["notes"][0]["kind"] == kind
        in_terminal = terminal(found)
        told = "Neither a boost nor a bias in 1 contamination check, which cannot tell: use "
        assert told in " ".join(in_terminal.split())
        assert way.removesuffix(".") in in_terminal.replace("`", "")
        untold = Remark(kind.replace("boost", "effect"), check.notes[0].values)
        check = replace(check, cannot_tell=untold, notes=[], outcome="cannot tell")
        word(check)
        assert str(check.message).startswith("cannot tell: ")
        assert way.removesuffix(".") in str(check.message).replace("`", "")


def test_nothing_is_said_of_a_boost_that_is_there() -> None:
    assert without_boost(run(contamination=[contamination()])) == ""
    leak = contamination(boost=-0.012, boost_p=0.6)
    assert without_boost(run(contamination=[leak])) == ""
    assert without_boost(run(claim())) == ""


def test_the_row_over_tasks_names_its_three_arms() -> None:
    row = ContaminationOverTasks(
        base="plain", extra="other", test="same", shots=0, tasks=25, boost=0.04, boost_p=0.0001,
        bias=0.001, bias_low=-0.003, bias_high=0.004, confidence=0.95, bias_p=0.34, level=0.05,
        finding="no sign of it",
    )  # fmt: skip
    found = run(claim(), contamination=[contamination()], contamination_over_tasks=[row])
    in_terminal = terminal(found)
    assert "plain other same" in in_terminal
    for text in (page.read(markdown(found)).text, of_page(found), in_terminal):
        assert "+.040" in text
        assert "-.003 to +.004" in text
        assert "no sign of it" in text


def test_another_training_is_the_reason_and_not_another_model() -> None:
    before = replace(trained(), model_digest="a")
    now = replace(trained(text_digest="cd" * 32), model_digest="b")
    assert before.training is not None
    assert now.training is not None
    now.training.settings = {**now.training.settings, "learning_rate": 1e-4, "modules": ["q_proj"]}
    now.training.classify = {**now.training.classify, "epochs": 9}
    assert [each.text for each in reasons(now, before)] == [
        "the model is trained on other texts",
        "modules of training from none to ['q_proj']",
        "learning_rate of training from 5e-05 to 0.0001",
        "epochs of the head from 3 to 9",
    ]
    same = replace(before, model_digest="c")
    assert [each.text for each in reasons(same, before)] == ["the model is not the same"]

"""The LaTeX report compiles whatever the names, and cites exactly what it has entries for."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings

from pytest_maxrandom.record import HeldOut, Remark, RunRecord
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import latex
from tests.unit.reports.hostile import HOSTILE, hidden_in
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import (
    calibrated,
    claim,
    designed,
    flag,
    flagged,
    hand_written,
    interaction,
    label_bias,
    recorded,
    run,
    scored,
    several,
    untested,
)

if TYPE_CHECKING:
    from pathlib import Path


TEST_SET = HeldOut(
    n=40,
    correct=30,
    accuracy=0.75,
    low=0.6,
    high=0.86,
    standard_baseline=0.5,
    p_standard=0.0011,
    openings=1,
)
ALWAYS = {"yauney-mimno-2024"}
USED = [
    (run(recorded()), ALWAYS),
    (run(claim()), ALWAYS | {"dettmers-2023"}),
    (run(claim(quantization="int8")), ALWAYS | {"dettmers-2022"}),
    (run(recorded(permutation_p=0.02)), ALWAYS | {"westfall-young-1993", "besag-clifford-1991"}),
    (run(recorded(test=TEST_SET)), ALWAYS | {"wilson-1927"}),
    (run(recorded(adjusted_p=0.02)), ALWAYS),
    (run(*[recorded(adjusted_p=0.02)] * 2), ALWAYS | {"holm-1979"}),
    (
        run(*[recorded(adjusted_p=0.02)] * 2, adjustment="bh"),
        ALWAYS | {"benjamini-hochberg-1995"},
    ),
    (run(untested()), set()),
    (run(), set()),
]


def rows(text: str) -> list[str]:
    """Return the rows of the first table."""
    table = re.split(r"\\end\{(?:tabular|longtable)\}", text, maxsplit=1)[0]
    body = re.split(r"\\endlastfoot|\\midrule", table)[-1]
    lines = body.strip().removesuffix(r"\bottomrule").strip().splitlines()
    assert all(line.endswith(r"\\") for line in lines)
    return lines


def headings(text: str) -> list[str]:
    """Return the headings of the first table."""
    (line,) = re.findall(r"(?:\\toprule\n)(.*) \\\\\n\\midrule", text)[:1]
    return [heading.strip() for heading in line.split("&")]


def cited(text: str) -> set[str]:
    return {key for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}


@pytest.mark.parametrize(("record", "keys"), USED)
def test_exactly_the_methods_that_were_used_are_cited_and_have_entries(
    record: RunRecord, keys: set[str]
) -> None:
    entries = re.findall(r"^@\w+\{([^,]+),$", bibtex(record), re.MULTILINE)
    assert cited(latex(record)) == set(entries) == keys
    assert len(entries) == len(set(entries))


def test_no_p_value_of_a_sentence_can_break_at_its_hyphen() -> None:
    told = flag("A guesser is with probability 8.7e-19 at most.", kind="never_right")
    checked = label_bias(interaction(0.9, 0.8, p_value=1e-4, permutation_p=2e-4))
    text = latex(run(claim(red_flags=[told]), label_bias=[checked]))
    sentences = text.partition(r"\begin{sloppypar}")[2]
    assert r"probability $8.7\times10^{-19}$ at most" in sentences
    assert r"(p = $1.0\times10^{-4}$, with shuffled right answers $2.0\times10^{-4}$)" in sentences
    assert not re.search(r"\d\.\de-", sentences)


def test_entries_of_bibtex_have_what_their_type_needs() -> None:
    needed = {
        "article": {"author", "title", "journal", "year"},
        "book": {"author", "title", "publisher", "year"},
        "inproceedings": {"author", "title", "booktitle", "year"},
        "misc": {"author", "title", "year"},
    }
    for record, _ in USED:
        for entry in bibtex(record).split("\n\n"):
            kind = re.match(r"@(\w+)\{", entry)
            if kind is None:
                assert entry == ""
                continue
            fields = re.findall(r"^  (\w+) = \{(.+)\},?$", entry, re.MULTILINE)
            assert needed[kind[1]] <= {name for name, _ in fields}
            assert all(value.count("{") == value.count("}") for _, value in fields)
            assert entry.isascii()


def test_a_row_holds_the_numbers_of_its_claim() -> None:
    (row,) = rows(latex(run(claim(best=41, task="a_b"))))
    assert [cell.strip() for cell in row.removesuffix(r"\\").split("&")] == [
        r"\texttt{a\_b}",
        "fails",
        "above maximum",
        r"\texttt{demo (nf4)}",
        "4",
        "60",
        "20",
        ".683",
        "41/60",
        r".495\textendash{}.782",  # scipy.stats.beta(41, 20).ppf(.05 / 20), beta(42, 19).ppf(.95)
        ".700",  # 42 of 60, by scipy.stats.binom(60, .5)
        ".500",
        ".620",
        ".060",
    ]


def test_a_row_shows_the_p_value_that_decides_and_whether_the_claim_fails() -> None:
    bounds = {"p_max": 0.05, "permutation_p": 0.05}
    held = claim(asserted=bounds, permutation_p=0.0001)
    failed = claim(asserted=bounds, permutation_p=0.31, outcome="failed", task="failed")
    text = latex(run(held, failed))
    cells = [row.removesuffix(r"\\").split("&") for row in rows(text)]
    found = [[cell.strip() for cell in (row[1], *row[-2:])] for row in cells]
    assert found == [
        ["passes", ".0013", r"$p_{\max}$"],
        ["fails", ".310", "permutation p"],
    ]
    assert headings(text)[-2:] == ["$p$", "which $p$"]  # not p_max
    caption = re.findall(r"\\caption\{(.*)\}\\label", text)[0]
    assert "the p-value that decides the claim" in caption
    text = latex(run(claim()))
    assert headings(text)[-1] == r"$p_{\max}$"
    assert "that decides the claim" not in re.findall(r"\\caption\{(.*)\}\\label", text)[0]


def test_no_permutation_p_stands_below_p_max() -> None:
    bounds = {"permutation_p": 0.05}
    text = latex(run(claim(asserted=bounds, permutation_p=0.031, p_max=0.2)))
    (row,) = rows(text)
    shown = dict(zip(headings(text), row.removesuffix(r"\\").split("&"), strict=True))
    assert shown["permutation $p$"].strip() == ".031"
    assert r"$p_{\max}$" not in shown
    assert "which $p$" not in shown  # the heading says so


def test_an_unknown_permutation_p_is_not_headed_p_max() -> None:
    bounds = {"permutation_p": 0.05, "beats": "max_random"}
    told = claim(
        asserted=bounds,
        cannot_tell=Remark("only_right_and_wrong"),
        outcome="cannot tell",
        passed=None,
    )
    assert headings(latex(run(told)))[-1] == "permutation $p$"
    text = latex(run(told, claim(task="named")))
    shown = [row.removesuffix(r"\\").split("&")[-2:] for row in rows(text)]
    assert [[cell.strip() for cell in each] for each in shown] == [
        ["--", ""],
        [".0013", r"$p_{\max}$"],
    ]


@pytest.mark.parametrize("tasks", [3, 30])
def test_every_claim_stands_in_the_table_once(tasks: int) -> None:
    record = run(*several(tasks=tasks), untested(), scored(), hand_written())
    assert len(rows(latex(record))) == len(record.claims)


def test_many_skipped_claims_are_counted_and_have_no_rows() -> None:
    skipped = untested(outcome="skipped", message="no results here", n=None, t=None)
    text = latex(run(*[skipped] * 144))
    assert "144 claims were skipped." in text
    assert "longtable}{" not in text
    assert "tabular" not in text
    text = latex(run(claim(), *[skipped] * 6))
    assert text.count("weather") > 0
    assert "emoji" not in text


def test_n_of_a_publication_is_told_apart_in_the_caption() -> None:
    published = recorded(best=16, n=102, best_accuracy=0.4, best_score=0.4)
    note = "Where the best is no share of $n$, $n$ is the published one"
    assert latex(run(published, published)).count(note) == 1
    assert note not in latex(run(recorded()))


def test_a_row_tells_what_its_red_flags_do() -> None:
    told = claim(red_flags=[flag()])
    failed = flagged(red_flags=flagged().red_flags[:1])
    text = latex(run(flagged(), failed, told, claim()))
    found = [row.rpartition("& ")[2].removesuffix(r"\\").strip() for row in rows(text)]
    assert found == ["fails, warns", "fails", "warns", ""]
    assert "red flags" not in latex(run(claim()))


def test_each_red_flag_is_a_sentence_of_what_was_tried_the_same_of_many_once() -> None:
    many = [claim(id=f"s.yaml::{name}", red_flags=[flag("50 % a_b.")]) for name in "abcde"]
    disclosed = latex(run(*many, flagged())).partition("What was tried.")[2]
    assert re.findall(r"^\\item (Red flag .*)$", disclosed, re.MULTILINE) == [
        r"Red flag tied\_scores (fails) of "
        r"\texttt{weather{[}demo-\allowbreak{}nf4-\allowbreak{}4shot{]}}: 30 of 60 scores tie.",
        r"Red flag majority (warns) of \texttt{a}, \texttt{b}, \texttt{c} and 2 more: "
        r"50 \% a\_b.",
        r"Red flag majority (warns) of "
        r"\texttt{weather{[}demo-\allowbreak{}nf4-\allowbreak{}4shot{]}}: Always wet is as good.",
    ]
    assert "Red flag" not in latex(run(claim()))
    assert "30 of 60 scores tie." in latex(run(untested(red_flags=flagged().red_flags)))


def skeleton(text: str) -> list[str]:
    """Return what makes the structure of a document: environments, rows, rules and items."""
    return re.findall(r"\\(?:begin|end)\{[^}]*\}|\\\\(?=\n)|\\\w+rule|\\item\b|(?<!\\)&", text)


@given(text=any_text)
@example(text=HOSTILE)
@settings(max_examples=25, deadline=None)
def test_no_text_changes_the_structure_of_a_report(text: str) -> None:
    written = latex(hidden_in(text))
    assert written.isascii()
    assert skeleton(written) == skeleton(latex(hidden_in("word")))
    for line in written.splitlines():
        assert line.isprintable()
        if not line.startswith("%"):
            assert not re.search(r"(?<!\\)%", line)


def test_a_fragment_names_the_packages_that_it_needs() -> None:
    fragment, document = latex(run(claim())), latex(run(claim()), standalone=True)
    named = re.findall(r"^%   (\\usepackage(?:\[\w+\])?\{\w+\})", fragment, re.MULTILINE)
    assert len(named) == 5
    for line in named:
        assert f"\n{line}\n" in document
    assert r"\documentclass" not in fragment


def test_an_upright_table_has_what_decides_in_a_float_over_both_columns() -> None:
    wide, upright = latex(run(claim())), latex(run(claim()), upright=True)
    assert headings(upright) == [
        *("task", "result", "model", "shots", "$n$", "$t$", "best", "needed"),
        r"\shortstack[r]{max. random \\ baseline}",
        r"$p_{\max}$",
    ]
    assert {*headings(upright)} < {*headings(wide)}
    assert r"\begin{table*}" in upright
    assert r"\begin{table*}" not in wide


def test_the_packages_are_named_as_debian_and_tex_live_do() -> None:
    told = latex(run(claim()))
    assert "texlive-latex-recommended lmodern" in told
    assert "tlmgr install booktabs tools lm" in told
    assert "siunitx" not in told


def test_changed_verdicts_are_told_with_both_numbers_and_why() -> None:
    text = latex(run(recorded(published="below standard"), recorded(published="above maximum")))
    assert "1 of 2 published verdicts changes" in text
    (row,) = re.findall(r"^.*below standard.*above maximum.*$", text, re.MULTILINE)
    for part in ("99", "60", "103", "345", ".0013", "example ids collide"):
        assert part in row


def compiles(folder: Path, name: str, text: str) -> str:
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("no pdflatex; install texlive-latex-recommended and lmodern")
    for style in ("booktabs.sty", "lmodern.sty", "longtable.sty", "geometry.sty"):
        if subprocess.run(["kpsewhich", style], capture_output=True, check=False).returncode:
            pytest.skip(f"this TeX has no {style}; install texlive-latex-recommended and lmodern")
    (folder / f"{name}.tex").write_text(text, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / f"{name}.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-3000:]
    return log


def hard_run() -> RunRecord:
    letters = "".join(map(chr, range(33, 127)))
    names = [HOSTILE, letters, "é ñ ø ł ß ǭ ế ị … – 动物 👩\u200d🚀 \N{NO-BREAK SPACE}", "[x] *y*"]  # noqa: RUF001
    claims = [claim(task=name, model=name, id=f"s.yaml::{name}", xfail=name) for name in names]
    changed = recorded(published="below standard", task=letters, permutation_p=0.02)
    tested = claim(test=TEST_SET, adjusted_p=0.0001, p_max=1e-200, log_p_max=-460.5)
    asked = interaction(*[0.5] * 4, calibrated=[calibrated(prior=dict.fromkeys(names, 0.25))])
    for row, name in zip(asked.labels, names, strict=True):
        row.label = name
    odd = flagged(red_flags=[flag(name, severity="fail") for name in names] + [flag(letters)])
    others = (untested(), scored(), hand_written(), odd, *several())
    return run(*claims, changed, tested, *others, label_bias=[label_bias(asked)])


def test_a_document_with_any_name_compiles_and_finds_its_references(tmp_path: Path) -> None:
    text = latex(hard_run(), standalone=True)
    compiles(tmp_path, "first", text)
    subprocess.run(["bibtex", "first"], cwd=tmp_path, capture_output=True, check=True)
    compiles(tmp_path, "first", text)
    log = compiles(tmp_path, "first", text)
    assert "undefined" not in log
    assert "multiply defined" not in log


def test_letters_can_be_scaled_and_an_upright_table_fits_its_page(tmp_path: Path) -> None:
    claims = [claim(task=name, id=name) for name in ("one task", "another task", "third")]
    permuted = claim(asserted={"permutation_p": 0.05}, permutation_p=1e-4, task="permuted")
    told = designed(*claims, permuted)
    for check in told.label_bias:  # as long as those of the demo
        check.claim = "suite.yaml::swapped_topic[demo-llama-nf4-4shot]"
        check.outcome = "xfailed"
    log = compiles(tmp_path, "upright", latex(told, standalone=True, upright=True))
    assert "Overfull" not in log
    if shutil.which("pdffonts") is None:
        return
    fonts = subprocess.run(
        ["pdffonts", "upright.pdf"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "Type 1" in fonts.stdout
    assert "Type 3" not in fonts.stdout


def test_a_fragment_compiles_within_another_document(tmp_path: Path) -> None:
    fragment = latex(run(*several(tasks=30), *[flagged()] * 31))
    (tmp_path / "results.tex").write_text(fragment, encoding="ascii")
    packages = re.findall(r"^%   (\\usepackage(?:\[\w+\])?\{\w+\})", fragment, re.MULTILINE)
    lines = [r"\documentclass{article}", *packages, r"\begin{document}", r"\input{results}"]
    compiles(tmp_path, "paper", "\n".join([*lines, r"\end{document}"]))

"""What a run shows in a terminal, with pytest's own options."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pytest_maxrandom.reports.layout import WIDE, width_of
from tests.plugin.conftest import N

if TYPE_CHECKING:
    from pathlib import Path

LONG = "questions_about_things_whose_name_nobody_would_ever_shorten"
MODEL = "knowing-model-with-a-rather-long-name-7B-instruct"
SUITE = f"""\
models:
  - {{name: guesser, backend: mock}}
  - {{name: {MODEL}, backend: mock, knows: 1.0}}
  - {{name: says-yes, backend: mock, prefers: "Yes"}}
tasks:
  - {{name: {LONG}, format: jsonl, path: data/known.jsonl}}
  - {{name: hard, format: jsonl, path: data/unknown.jsonl, xfail: nobody knows these answers}}
prompts: {{shots: [0, 2], count: 3}}
label_bias: {{assert: report}}
"""
ARMS = """\
models:
  - {name: tuned, backend: mock}
tasks:
  - {name: known, format: jsonl, path: data/known.jsonl}
prompts: {shots: [0], count: 1}
arms: {none: {}, a_long_name_of_another_arm_of_this_model: {seed: 1}}
compare: [{arms: none - a_long_name_of_another_arm_of_this_model, assert: {better: 0.9}}]
"""
UNREACHABLE = """\
models:
  - {name: away, backend: openai, url: "http://127.0.0.1:9/v1", served_model: m}
tasks:
  - {name: known, format: jsonl, path: data/known.jsonl}
prompts: {shots: [0, 1, 2], count: 2}
"""


@pytest.fixture
def mixed(pytester: pytest.Pytester, suites: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Suites of which claims pass, fail, pass unexpectedly, fail as expected and have no result."""
    monkeypatch.setenv("COLUMNS", "80")
    (suites / "suite.yaml").write_text(SUITE)
    (suites / "arms.yaml").write_text(ARMS)
    (suites / "away.yaml").write_text(UNREACHABLE)
    return suites


def shown(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """Return the lines of the plugin's section."""
    out = pytester.runpytest(*arguments).stdout.str()
    found = re.search(r"^=+ maxrandom =+\n(.*?)^=", out, re.DOTALL | re.MULTILINE)
    return found[1].splitlines() if found else []


@pytest.mark.parametrize(
    ("columns", "spread"),
    [
        (80, ()),
        (100, ()),
        (120, ()),
        pytest.param(160, ("-n", "2"), marks=pytest.mark.slow),
    ],
)
def test_nothing_is_wider_than_the_terminal(
    pytester: pytest.Pytester,
    mixed: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    spread: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = shown(pytester, *spread)
    assert lines[0].startswith("FAILED: ")
    assert max(map(width_of, lines)) <= columns
    whole = re.sub(r"\s+", "", "".join(lines))
    for model in ("guesser", MODEL, "says-yes"):
        assert f"{LONG}[{model}-2shot]" in whole
    heads = [place for place, line in enumerate(lines) if line.startswith("result ")]
    assert lines[heads[0]].endswith("  claim")
    rows = lines[heads[0] + 1 : heads[1]]
    for long, brief in (("fails as expected", "xfails"), ("passes unexpectedly", "xpasses")):
        assert any(line.startswith(long if columns >= WIDE else brief) for line in rows)
        rows = [re.sub(f"^{long}", brief, line) for line in rows]
    assert ("needed" in lines[heads[0]]) == (columns >= WIDE)
    results = [line.split()[0] for line in rows]
    claims = [word for word in results if word in RESULTS]
    assert claims == sorted(claims, key=RESULTS.index)
    assert {"fails", "error", "passes", "xfails"} <= set(claims)


RESULTS = ["fails", "xpasses", "error", "passes", "reported", "xfails", "skipped"]


def test_an_error_that_claims_share_is_written_once_and_every_machine_gets_it_whole(
    pytester: pytest.Pytester, mixed: Path
) -> None:
    result = pytester.runpytest("eval_suites/away.yaml", "--junitxml=j.xml")
    result.assert_outcomes(errors=3)
    out = result.stdout.str()
    blocks = out.partition(" ERRORS ")[2].partition(" maxrandom ")[0]
    assert blocks.count("cannot be reached") == 1
    assert blocks.count("The same error as of known[away-0shot].") == 2
    assert "During handling" not in out
    assert "Traceback" not in out
    assert "\neval_suites/away.yaml:2: the server at http://127.0.0.1:9 " in blocks
    errors = [str(case.get("message")) for case in ET.parse(pytester.path / "j.xml").iter("error")]
    assert len(errors) == 3
    assert all("127.0.0.1:9 cannot be reached" in message for message in errors)


def test_pytests_styles_of_tracebacks_are_respected(pytester: pytest.Pytester, mixed: Path) -> None:
    chosen = ("eval_suites/suite.yaml", "-k", "guesser-0shot and not hard and not label_bias")
    told = {
        style: pytester.runpytest(*chosen, f"--tb={style}").stdout.str()
        for style in ("auto", "short", "long", "line", "no")
    }
    pattern = r"best \.\d{3}, needs \.\d{3} \(permutation p = \.\d{3}; t = 1, n = 24\)"
    for style, out in told.items():
        failures = out.partition(" FAILURES ")[2].partition(" maxrandom ")[0]
        assert len(re.findall(pattern, failures)) == (0 if style == "no" else 1), style
        assert ("Claimed: " in failures) == (style == "long")
        line = re.search(rf"^eval_suites/suite.yaml:6: {pattern}(;.*)?$", failures, re.M)
        assert (line is None) == (style != "line")
        assert "maximum random baseline" in failures if style == "long" else True


def test_the_line_of_a_failure_ends_with_its_main_reason(
    pytester: pytest.Pytester, mixed: Path
) -> None:
    result = pytester.runpytest("eval_suites/suite.yaml", "-k", "says-yes", "--tb=line")
    pattern = r": best \.\d{3}, needs \.\d{3} \(p_max .*\); always says \"\w+\"$"
    assert re.search(pattern, result.stdout.str(), re.M)


def test_verbosity_is_respected(pytester: pytest.Pytester, mixed: Path) -> None:
    everything = {
        level: shown(pytester, "eval_suites/suite.yaml", level) for level in ("-qq", "-q", "-v")
    }
    assert len(everything["-qq"]) <= 3
    assert not any("p-value that decides" in line for line in everything["-q"])
    assert any("constant_answers" in line for line in everything["-q"])
    assert any(line.startswith("result ") for line in everything["-v"])
    assert "nearly every example the same" in " ".join(map(str.strip, everything["-v"]))


def test_no_summary_leaves_out_all_but_what_went_wrong(
    pytester: pytest.Pytester, mixed: Path
) -> None:
    assert shown(pytester, "eval_suites/arms.yaml", "--no-summary") == []
    (pytester.path / "templates").mkdir()
    (pytester.path / "templates" / "report.md.j2").write_text("{{ nonsense }}")
    arguments = ("--maxrandom-report=r.md", "--maxrandom-templates=templates", "--no-summary",
                 "eval_suites/arms.yaml")  # fmt: skip
    result = pytester.runpytest(*arguments)
    result.stdout.fnmatch_lines(["no report was written: *nonsense*"])


@pytest.mark.parametrize("spread", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_colour_is_pytests(
    pytester: pytest.Pytester,
    mixed: Path,
    monkeypatch: pytest.MonkeyPatch,
    spread: tuple[str, ...],
) -> None:
    spread = ("eval_suites/suite.yaml", *spread)
    coloured = pytester.runpytest("--color=yes", *spread).stdout.str()
    assert "\x1b[31m\x1b[1mFAILED:\x1b[0m " in coloured
    assert "\x1b[32mpasses\x1b[0m " in coloured
    assert "\x1b[31m\x1b[1mbest ." in coloured
    assert "\x1b" not in pytester.runpytest("--color=no", *spread).stdout.str()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in pytester.runpytest(*spread).stdout.str()


def test_mistakes_of_a_suite_break_between_words_where_there_is_a_terminal(
    pytester: pytest.Pytester, suites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(f"{suite.read_text()}\nnonsense: 1\n")
    monkeypatch.setenv("COLUMNS", "60")
    flat = pytester.runpytest("--color=no", "--junitxml=j.xml").stdout.str()
    (line,) = (each for each in flat.splitlines() if "unknown key `nonsense`" in each)
    assert len(line) > 120
    (error,) = ET.parse(pytester.path / "j.xml").iter("error")
    assert line in (error.text or "")
    coloured = pytester.runpytest("--color=yes").stdout.str()
    lines = re.sub(r"\x1b\[\d*m", "", coloured).splitlines()
    (first,) = (at for at, each in enumerate(lines) if "unknown key `nonsense`" in each)
    last = next(at for at in range(first + 1, len(lines)) if not lines[at].startswith("    "))
    assert all(len(each) <= 60 for each in lines[first:last])
    assert " ".join(each.strip() for each in lines[first:last]) == line


def test_an_unexpected_pass_says_what_to_do_and_junit_has_pytests_words(
    pytester: pytest.Pytester, suites: Path
) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("data/unknown", "data/known"))
    result = pytester.runpytest("--junitxml=j.xml", "--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=1)
    _, claim = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert (claim["passed"], claim["outcome"]) == (True, "xpassed")
    result.stdout.fnmatch_lines(["passes, but was expected to fail (*", "*: remove its xfail*"])
    (failure,) = ET.parse(pytester.path / "j.xml").iter("failure")
    assert "[XPASS(strict)] the answers are the opposite" in str(failure.text)


def test_a_wrong_argument_shows_the_users_line_and_none_of_the_plugins(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        "def test_it(maxrandom): maxrandom.check(best_correct=0.71, n=100, t=9, chance=0.5)"
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*maxrandom.check(*", "E*TypeError: best_correct must be *"])
    result.stdout.no_fnmatch_line("*fixture.py*")


@pytest.mark.slow  # a process of its own, which imports all that computes
def test_the_kernels_of_4_bit_layers_do_not_look_like_the_cause_of_a_failure(
    pytester: pytest.Pytester, real_suites: Path
) -> None:
    pytest.importorskip("bitsandbytes")
    suite = real_suites / "suite.yaml"
    text = suite.read_text().replace("quantization: none", "quantization: nf4")
    suite.write_text(text.replace("data/known", "data/unknown"))
    result = pytester.runpytest_subprocess("--maxrandom-json=r.json", "-k", "known and not unknown")
    assert json.loads((pytester.path / "r.json").read_text())["claims"][0]["n"] == N
    result.stdout.no_fnmatch_line("*Captured*")
    result.stdout.no_fnmatch_line("*pip install kernels*")

"""`maxrandom baseline` and `plan`: the best of t guessers, and what an honest claim needs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands import add_command, json_text, table
from pytest_maxrandom.notation import level
from pytest_maxrandom.record import SCORE, ClaimRecord, Sampled
from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.components import Components, expected_of, more, more_of_examples
from pytest_maxrandom.stats.losses import regression_plan
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.score_sizes import DIFFERENCES, SCORES, ScoreClaim, score_plan
from pytest_maxrandom.stats.sizes import baseline_summary, plan

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the commands and their arguments."""
    text = "compute the maximum random baseline of n examples and t prompts"
    parser = add_command(commands, "baseline", _baseline, text)
    parser.add_argument(
        "--n", type=int, help="number of examples (counted from --choices if mixed)"
    )
    parser.add_argument("--t", type=int, required=True, help="number of prompts that were tried")
    parser.add_argument("--correct", help="number of right answers of the best prompt")
    text = "compute how many examples, or how few prompts, an honest claim needs"
    planner = add_command(commands, "plan", _plan, text)
    planner.add_argument("--n", type=int, help="number of examples that you have")
    planner.add_argument("--t", type=int, help="number of prompts to try")
    planner.add_argument(
        "--below", type=float, help="keep the maximum random baseline at or below this"
    )
    planner.add_argument(
        "--true-accuracy", type=float, help="true accuracy of a good prompt, on all such questions"
    )
    _add_scores(planner)
    _add_regression(planner)
    planner.add_argument(
        "--samples",
        metavar="REPORT",
        help="of a JSON report with several samples of each answer: what more samples, or more "
        "examples, buy",
    )
    for command in (parser, planner):
        command.add_argument(
            "--choices",
            required=command is parser,
            help="choices per example: 4, or choices:examples of each kind: 2:50,5:50",
        )
        command.add_argument(
            "--alpha", type=float, default=0.05, help="level of the test (default: 0.05)"
        )
        command.add_argument("--json", action="store_true", help="print JSON, unrounded")


def _add_scores(planner: argparse.ArgumentParser) -> None:
    """Describe the options of a claim about graded scores."""
    group = planner.add_argument_group(
        "of graded scores",
        "How many examples a claim about scores from 0 to 1 takes, or what --n of them show, as "
        "the best of --t (default: 1) at --alpha.",
    )
    group.add_argument("--beats", type=float, help="a stated baseline; give --true-score as well")
    group.add_argument("--true-score", type=float, help="true mean score of a good prompt")
    group.add_argument(
        "--difference",
        type=float,
        help="true difference to an incumbent or a control on the same examples, instead",
    )
    group.add_argument(
        "--spread",
        type=float,
        help="standard deviation of the scores, or of the differences (default: the greatest that "
        "there can be)",
    )


def _refuse(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse the first of some options that is given beside what it does not go with."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value is not False:  # 0 is given
            raise ValueError(f"--{name.replace('_', '-')}: {why}")


_OF_GUESSERS = ("choices", "below", "true_accuracy")
_OF_SCORES = ("beats", "true_score", "difference", "spread")


def _plan_scores(options: argparse.Namespace) -> str:
    """Answer what graded scores can show."""
    _refuse(options, _OF_GUESSERS, "scores have no guessers; remove it, or what is of scores")
    paired = options.difference is not None
    if paired == (options.beats is not None) or paired == (options.true_score is not None):
        raise ValueError("give --beats and --true-score, or else --difference, of graded scores")
    claim = ScoreClaim(
        options.difference if paired else options.true_score,
        0.0 if paired else options.beats,
        options.spread,
        t=1 if options.t is None else options.t,
        alpha=options.alpha,
        ends=DIFFERENCES if paired else SCORES,
    )
    answers = score_plan(claim, options.n)
    if options.json:
        return json_text(answers)
    what = f"a difference of {options.difference:g}" if paired else (
        f"a true score of {options.true_score:g} above {options.beats:g}"
    )  # fmt: skip
    rows = [
        (f"examples for {what}, {_percent(power)} % power", f"about {_counted(value)}")
        for power, value in answers["n_for_power"].items()
    ]
    if "power" in answers:
        rows.append((f"power for {what} at n = {options.n}", f"{answers['power']:.3f}"))
    return table(rows, left=2)


def _add_regression(planner: argparse.ArgumentParser) -> None:
    """Describe the options of a comparison with a base."""
    group = planner.add_argument_group(
        "with --regression",
        "What `maxrandom diff --assert` can show of one prompt whose answers are right or wrong; "
        "several prompts show more. --n and --alpha are as above; --t is of how many prompts the "
        "base was the best, on these examples (default: 1).",
    )
    group.add_argument(
        "--regression", action="store_true", help="plan a comparison with a base, not a claim"
    )
    group.add_argument(
        "--margin", type=float, help="largest loss that is not worse (default: -0.02)"
    )
    group.add_argument("--loss", type=float, help="a loss that is to be found, such as 0.05")
    group.add_argument(
        "--changed",
        type=float,
        help="share of answers that change though nothing is worse (default: 0.1)",
    )
    group.add_argument("--claims", type=int, help="how many are compared (default: 1)")
    group.add_argument(
        "--look", type=int, help="which comparison on these examples it is (default: 1)"
    )


def _plan_samples(options: argparse.Namespace) -> str:
    """Say of each claim with samples what its standard error would be with more."""
    beside = (*_OF_GUESSERS, "n", "t", "regression")
    _refuse(options, beside, "--samples reads all from the report; remove one of both")
    from pytest_maxrandom.reports.results import load  # it needs pydantic, which numbers do not

    largest = {
        claim.id: _with_more(claim, each)
        for claim in load(Path(options.samples)).claims
        if (each := claim.sampled) is not None and each.between is not None
    }
    if not largest:
        raise ValueError(
            f"--samples: {options.samples} has no claim with several samples of each answer; "
            "ask for them (`generation: {samples: 5, temperature: 0.7}`)"
        )
    if options.json:
        return json_text(largest)
    head = ("standard error of what samples come to", "")
    rows: list[tuple[str, str]] = []
    for name, errors in largest.items():
        rows += [(name, ""), *((f"  {what}", f"{error:.4f}") for what, error in errors.items())]
    return table([head, *rows], left=2)


def _with_more(claim: ClaimRecord, own: Sampled) -> dict[str, float]:
    """Say what more samples, or more examples, of a claim would buy."""
    n, k, how, score = claim.n or 1, own.samples, own.aggregate, claim.best_accuracy or 0.0
    known = Components(n, k, own.right, own.between or 0.0, own.within or 0.0)
    if how == "mean":
        return more(known)
    if claim.metric == SCORE:  # a score varies at most as what is right or wrong
        return {f"{what}, at most": error for what, error in more_of_examples(score, n).items()}
    if own.asked is not None and own.asked < k:  # an estimate, which more samples make better
        return {f"pass@{own.asked} of {k}, at most": more_of_examples(score, n)["now"]}
    errors = more_of_examples(score, n)
    if how != "vote" and (share := expected_of(known, how, 2 * k)) is not None:
        errors[f"{how} of twice the samples is about"] = share
    return errors


_OF_REGRESSIONS = ("margin", "loss", "changed", "claims", "look")


def _plan_regression(options: argparse.Namespace) -> str:
    """Answer what a comparison with a base can show."""
    _refuse(options, _OF_GUESSERS, "--regression has no guessers; remove one of the two")
    said = {name: getattr(options, name) for name in _OF_REGRESSIONS}
    answers = regression_plan(
        options.n,
        **{"loss": None, "margin": -0.02}
        | {name: value for name, value in said.items() if value is not None},
        tried=1 if options.t is None else options.t,
        alpha=options.alpha,
    )
    if options.json:
        return json_text(answers)
    given = answers["given"]
    shown = f"not worse than {given['margin']:g}"
    rows = [("level of worse", level(answers["level_worse"]))]
    rows.append(("level of not worse", level(answers["level_not_worse"])))
    for key, what in (("n_worse", f"a loss of {given['loss']}"), ("n_not_worse", shown)):
        rows += [
            (f"examples for {what}, {_percent(power)} % power", f"about {_counted(value)}")
            for power, value in answers.get(key, {}).items()
        ]
    for key, what in (("power_worse", f"a loss of {given['loss']}"), ("power_not_worse", shown)):
        if key in answers:
            rows.append((f"power for {what} at n = {given['n']}", f"{answers[key]:.3f}"))
    return table(rows, left=2)


def _baseline(options: argparse.Namespace) -> str:
    """Return the baseline and what it takes to pass."""
    if options.n is None and ":" not in options.choices:
        raise ValueError("--n, the number of examples, is needed if --choices is one number")
    baseline = MaxRandomBaseline(options.n, _chance(options.choices), options.t)
    correct = None if options.correct is None else _count_of(options.correct, baseline.n)
    summary = baseline_summary(baseline, correct, options.alpha)
    return json_text(summary) if options.json else table(_baseline_rows(summary), left=2)


def _count_of(text: str, n: int) -> int:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        share = float(text)
    except ValueError:
        share = 2.0
    hint = f"; an accuracy of {text} of n = {n} is {round(share * n)}" if 0 <= share <= 1 else ""
    raise ValueError(f"--correct: found {text}, expected a count of correct answers{hint}")


def _plan(options: argparse.Namespace) -> str:
    """Answer every planning question that the options pose."""
    if options.samples is not None:
        return _plan_samples(options)
    if options.regression:
        return _plan_regression(options)
    _refuse(options, _OF_REGRESSIONS, "found no --regression, which it is a part of")
    if any(getattr(options, name) is not None for name in _OF_SCORES):
        return _plan_scores(options)
    if options.choices is None:
        raise ValueError("--choices: found none; how many choices has an example?")
    answers = plan(
        _chance(options.choices),
        options.n,
        options.t,
        below=options.below,
        true_accuracy=options.true_accuracy,
        alpha=options.alpha,
    )
    return json_text(answers) if options.json else table(_plan_rows(answers), left=2)


def _plan_rows(answers: dict[str, Any]) -> list[tuple[str, str]]:
    given = answers["given"]
    below, hoped, level = given["below"], given["true_accuracy"], given["alpha"]
    rows = _baseline_rows(answers["baseline"]) if "baseline" in answers else []
    labels = {
        "smallest_n": f"fewest examples for p_max <= {level:g}",
        "n_for_expected_maximum": f"examples for max random <= {below}",
        "largest_t": f"most prompts for p_max <= {level:g}",
        "largest_t_for_expected_maximum": f"most prompts for max random <= {below}",
    }
    rows += [(label, _counted(answers[key])) for key, label in labels.items() if key in answers]
    rows += [
        (f"{label} for {_percent(power)} % power at true accuracy {hoped}", _counted(value))
        for key, label in (("n_for_power", "examples"), ("largest_t_for_power", "most prompts"))
        for power, value in answers.get(key, {}).items()
    ]
    rows += [
        (f"true accuracy for {_percent(power)} % power", "-" if value is None else f"{value:.4f}")
        for power, value in answers.get("true_accuracy_for_power", {}).items()
    ]
    if "power" in answers:
        rows.append((f"power at true accuracy {hoped}", f"{answers['power']:.3f}"))
    return rows


def _counted(value: int | None) -> str:
    if value is None:
        return "none"
    return "no limit" if value >= MOST_GUESSERS else f"{value:,}"


def _percent(power: str) -> str:
    return f"{float(power) * 100:g}"


def _chance(choices: str) -> Fraction | dict[int, int]:
    """Read "4" as a chance, and "2:50,5:50" as {choices: examples}."""
    mix: dict[int, int] = {}
    try:
        for part in choices.split(",") if ":" in choices else [f"{choices}:1"]:
            number, _, examples = part.partition(":")
            mix[int(number)] = mix.get(int(number), 0) + int(examples)
    except ValueError:
        raise ValueError(
            f"--choices: found {choices!r}, expected a number of choices such as 4, or "
            "choices:examples of each kind such as 2:50,5:50"
        ) from None
    if (fewest := min(mix)) < 2:
        raise ValueError(
            f"--choices: found {fewest}, expected at least 2: with one choice there is nothing to "
            "guess"
        )
    return mix if ":" in choices else Fraction(1, fewest)


def _baseline_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of a summary by `baseline_summary`."""
    n, needed = summary["n"], summary["critical_count"]
    by_all = f"impossible: even {n}/{n} has p_max {summary['min_p']:.4g}"
    rows = [
        ("examples n", str(n)),
        ("prompts t", str(summary["t"])),
        ("standard baseline", f"{summary['standard_baseline']:.4f}"),
        ("maximum random baseline", f"{summary['max_random_baseline']:.4f}"),
        (
            f"needed for p_max <= {summary['alpha']:g}",
            by_all if needed is None else f"{needed}/{n} = {needed / n:.4f}",
        ),
    ]
    if "correct" in summary:
        rows += [
            ("best prompt", f"{summary['correct']}/{n} = {summary['accuracy']:.4f}"),
            ("p_standard", f"{summary['p_standard']:.4g}"),
            ("p_max", f"{summary['p_max']:.4g}"),
            ("union p", f"{summary['union_p']:.4g}"),
        ]
    return rows

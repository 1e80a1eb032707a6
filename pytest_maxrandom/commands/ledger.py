"""`maxrandom ledger`: what was ever evaluated, and whether the files say so rightly."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import claimed_set
from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.commands import add_command, json_text, table
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.ledger import FOLDER, SIMULATED
from pytest_maxrandom.ledger.fields import FIELDS
from pytest_maxrandom.ledger.files import LedgerFile, lines_of, rows_of
from pytest_maxrandom.ledger.folder import ledger_files
from pytest_maxrandom.ledger.history import Commit, WorkTree, from_root
from pytest_maxrandom.ledger.lines import fact, line_of, related, set_digest
from pytest_maxrandom.ledger.losses import lost
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.outlines import Outline
from pytest_maxrandom.ledger.questions import explained
from pytest_maxrandom.ledger.summary import ClaimSummary, FileSummary, mistakes, summary
from pytest_maxrandom.ledger.union import by_set, merged, to_unite, unite
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.suite import is_suite
from pytest_maxrandom.suite.loader import RecordedSuite

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.claims.planned import PlannedClaim


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "show, check, unite or export the record of all tries on a validation set"
    parser = commands.add_parser("ledger", help=text, description=f"{text[0].upper()}{text[1:]}.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    text = (
        "print t, looks and best result of each validation set, and the baseline after more prompts"
    )
    show = add_command(actions, "show", _show, text)
    show.add_argument("--json", action="store_true", help="print JSON, unrounded")

    text = (
        "check every line, and that none is missing since a base; with suites, also check their "
        "examples"
    )
    verify = add_command(actions, "verify", _verify, text)
    verify.add_argument(
        "--base",
        metavar="REF",
        help="branch, tag or commit to compare with, at the point where HEAD left it: every line "
        "of the ledger there must still exist; suites that were moved or copied are found by "
        "their examples",
    )

    text = "unite two files of one validation set, in any order"
    merge = add_command(actions, "merge", _merge, text)
    merge.add_argument("one", type=Path, metavar="A", help="a ledger file")
    merge.add_argument(
        "other", type=Path, metavar="B", help="another ledger file of the same examples"
    )
    merge.add_argument("-o", "--output", type=Path, help="file to write (default: standard output)")

    text = (
        "unite the files of each validation set that several hosts wrote on a shared file system; "
        "safe while they are still writing"
    )
    united = add_command(actions, "unite", _unite, text)

    text = (
        "write down that reworded questions are others, so that what was tried on the earlier ones "
        "does not count for them; whoever reviews the change decides whether it is true"
    )
    apart = add_command(actions, "apart", _apart, text)
    apart.add_argument("file", type=Path, metavar="FILE", help="the ledger file of the new set")
    apart.add_argument("--why", required=True, metavar="TEXT", help="why, for who reviews it")

    text = "print all prompts, looks and openings as a table"
    export = add_command(actions, "export", _export, text)
    export.add_argument(
        "--format",
        choices=("csv", "json"),
        default="csv",
        help="format of the table (default: csv)",
    )

    for action in (show, verify, united, export):
        action.add_argument(
            "paths",
            type=Path,
            nargs="*",
            default=[Path()],
            metavar="PATH",
            help="a ledger file, a suite, or a folder to search (default: the current folder)",
        )


def _show(options: argparse.Namespace) -> str:
    opened = LedgerFiles()
    files = dict.fromkeys(file for path in options.paths for file in _shown_of(path, opened))
    summaries = [summary(group, opened) for group in by_set(list(files), opened)]
    if options.json:
        return json_text([asdict(one) for one in summaries])
    if not summaries:
        below = f"no ledger below {', '.join(map(str, options.paths))}"
        if apart := [folder for path in options.paths for folder in _simulated(path)]:
            return f"{below}; tries of mock models are in {', '.join(map(str, apart))}"
        return f"{below}; the first run of a suite creates one next to it"
    return "\n\n".join(["\n".join(_shown(one)) for one in summaries] + [_LEGEND])


_LEGEND = "max random: the maximum random baseline for t prompts; +10: after 10 more prompts."


def _simulated(path: Path) -> list[Path]:
    """Return the ledgers of mock models of a path, which nothing reads unless they are named."""
    below = path.parent.glob(SIMULATED) if path.is_file() else path.rglob(SIMULATED)
    return sorted(below)


def _shown_of(path: Path, opened: LedgerFiles) -> list[Path]:
    """Return the ledger files of a path; of a suite those that count for its claims."""
    files = _files([path])
    if not _is_suite(path):
        return files
    own = list(dict.fromkeys(claim.condition for claim in _claims(path)))

    def is_about(file: Path, condition: Condition) -> bool:
        outline = opened.outline(file)
        known = explained([outline], condition.named_questions)
        return bool(related(outline.sets, condition.example_digests, known))

    return [file for file in files if any(is_about(file, condition) for condition in own)]


def _shown(file: FileSummary) -> Iterator[str]:
    yield (
        f"{file.task}: {count(file.examples)} examples, standard baseline "
        f"{accuracy(file.standard_baseline)}, {count(file.t)} "
        f"{'prompt' if file.t == 1 else 'prompts'} of any claim"
    )
    yield f"  {file.path}"
    more = list(file.claims[0].max_random_baseline)[1:] if file.claims else []
    head = ("claim", "t", "looks", "best", "max random")
    rows = [(*head, *(f"+{count(int(number))}" for number in more))]
    rows += [
        (
            claim.name,
            f"{claim.t:,}",
            str(claim.looks),
            _best(claim),
            *map(accuracy, claim.max_random_baseline.values()),
        )
        for claim in file.claims
    ]
    yield indent(table(rows), "  ")
    for path, common in file.related.items():
        yield (
            f"  t also counts {Path(path).name}, which shares {common:,} of {file.examples:,} "
            "examples"
        )
    for claim in file.claims:
        if claim.t != claim.t_in_this_file:
            yield (
                f"  {claim.name}: {claim.t_in_this_file:,} of its {claim.t:,} prompts are in this "
                "file under that name"
            )
        if claim.incumbents:
            chain = ", then ".join(
                f"{named.prompt[:12]}{f' of model {named.model[:12]}' * bool(named.model)} "
                f"(t up to {count(named.t)})"
                for named in claim.incumbents
            )
            yield f"  {claim.name}: compared with the incumbent {chain}"
        if claim.t_looked_at > claim.t:
            yield (
                f"  {claim.name}: a look counted t = {claim.t_looked_at:,} (a budget, the end of a "
                f"doubling, or other claims' prompts too); {claim.t:,} were evaluated"
            )
    for name, (answers, beside) in file.recorded.items():
        looked = f"{count(answers)} different, {count(beside)} beside an incumbent"
        yield f"  {name}: looks at recorded answers: {looked}"
    for test, openings in file.openings.items():
        yield f"  test set {test[:12]}: opened {'once' if openings == 1 else f'{openings} times'}"


def _best(claim: ClaimSummary) -> str:
    if claim.best_correct is None or claim.best_accuracy is None:
        return "not shown yet"
    return f"{claim.best_correct}/{claim.n} = {accuracy(claim.best_accuracy)}"


def _verify(options: argparse.Namespace) -> str:
    lost = [] if options.base is None else _lost(options.base, options.paths)
    paths = [path for path in options.paths if path.exists()] if lost else options.paths
    found = [mistake for path in _files(paths) for mistake in mistakes(path)]
    found += [told for path in paths if _is_suite(path) for told in _unlike(path)]
    found += lost
    options.status = 1 if found else 0
    if found:
        return "\n".join(found)
    files = len(_files(options.paths))
    whole = f"{files} {'file' if files == 1 else 'files'}, every line is valid"
    if options.base is None:
        return f"{whole}; --base REF also checks whether lines are missing"
    return f"{whole}, and none is missing since {options.base}"


def _lost(ref: str, paths: list[Path]) -> list[str]:
    tree = repository(paths[0] if paths[0].is_dir() else paths[0].parent)
    below = [from_root(tree, path) for path in paths]
    base, now = Commit(tree, ref), WorkTree(tree)
    suites = [path for path in paths if _is_suite(path)]
    suites += [
        path
        for path in tree.files("*.yaml", "*.yml")
        if is_suite(path, tree.root)
        and path.is_file()
        and any(from_root(tree, path).is_relative_to(each) for each in below)
    ]
    claimed, unread = list(now.claimed_sets()), []
    for path in {path.resolve(): path for path in suites}.values() if base.folders else ():
        folder, name = from_root(tree, path.parent / FOLDER), from_root(tree, path).as_posix()
        try:
            claimed += [claimed_set(claim, folder, name) for claim in _claims(path)]
        except SuiteError as error:
            unread.append(
                f"{error.problems[0]} (so the examples of its claims cannot be compared with the "
                "base)"
            )
    own = [from_root(tree, path.parent / FOLDER) for path in paths if _is_suite(path)]
    gone = lost(base, now, claimed, list(map(str, below + own)))
    return list(map(visible, [*unread, *gone]))


def _claims(path: Path) -> list[PlannedClaim]:
    """Return the claims of a suite that a run counts tries for, but simulated ones."""
    suite = read_suite(path)
    claims = [] if isinstance(suite, RecordedSuite) else plan(suite)
    return [claim for claim in claims if not claim.simulated]


def _unlike(path: Path) -> Iterator[str]:
    """Yield the tasks of a suite of which only an earlier form is in the ledger."""
    files = [Outline.of_lines(lines_of(file)) for file in _files([path])]
    sets = {digest: examples for file in files for digest, examples in file.sets.items()}
    tasks = {claim.condition.task.name: claim.condition for claim in _claims(path)}
    for task, condition in tasks.items():
        own = condition.example_digests
        near = related(sets, own, explained(files, condition.named_questions))
        if near and set_digest(own) not in near:
            yield (
                f"{path}: the ledger has no set with the {len(own)} validation examples of {task}; "
                f"the nearest set shares {max(near.values())} of them, and its prompts still count"
            )


def _merge(options: argparse.Namespace) -> str:
    simulated = [path.absolute().parent.name == SIMULATED for path in (options.one, options.other)]
    if len(set(simulated)) > 1:
        made_up = (options.one, options.other)[simulated.index(True)]
        raise ValueError(
            f"{made_up} counts tries on simulated models, and the other file counts tries on real "
            "ones; neither counts for the other, so merge files of one kind"
        )
    rows = chain(rows_of(options.one), rows_of(options.other))
    if options.output is None:
        lines = list[bytes]()
        merged(rows, lines.append)
        return b"".join(lines).decode("ascii").rstrip("\n")
    whole = options.output.with_name(f"{options.output.name}.new")
    try:
        with whole.open("wb") as file:
            number = merged(rows, file.write)
        whole.replace(options.output)  # which may be one of the two
    finally:
        whole.unlink(missing_ok=True)
    return f"{number:,} lines in {options.output}"


def _unite(options: argparse.Namespace) -> str:
    groups = filter(None, map(to_unite, by_set(_files(options.paths), LedgerFiles())))
    told = []
    for group in groups:
        file, lines = unite(group)
        told.append(f"{lines:,} lines of {len(group)} files in {file}")
    return "\n".join(told) or "each validation set has one file; there is nothing to unite"


def _apart(options: argparse.Namespace) -> str:
    file = LedgerFile(options.file)
    file.read()
    file.check_set()
    if not options.why.strip() or not options.why.isprintable():
        raise ValueError(f"--why: found {options.why!r}, expected a reason in one line")
    joins = [sets for sets in file.joins if sets not in file.undone]
    if not joins:
        raise ValueError(
            f"{options.file}: found no line of kind reworded that still counts, so there is "
            "nothing to undo"
        )
    when = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [
        {"kind": "apart", "when": when, "run": "", "set": new, "before": before, "why": options.why}
        for new, before in joins
    ]
    file.append(lambda: list(map(line_of, rows)))
    return (
        f"{options.file}: its questions count as others than those of {len(rows)} earlier "
        f"{'set' if len(rows) == 1 else 'sets'}; commit the line, and let it be reviewed"
    )


def _export(options: argparse.Namespace) -> str:
    by_fact = {
        (path.parent, fact(row)): row for path in _files(options.paths) for row in rows_of(path)
    }
    rows = list(by_fact.values())
    if options.format == "json":
        return json_text(rows)
    kinds = ("prompt", "look", "opening")
    names = dict.fromkeys(name for kind in kinds for name in FIELDS[kind])
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for row in rows if row["kind"] in kinds)
    return text.getvalue().rstrip("\n")


def _files(paths: list[Path]) -> list[Path]:
    return list(dict.fromkeys(file for path in paths for file in ledger_files(path)))


def _is_suite(path: Path) -> bool:
    return path.is_file() and path.suffix in (".yaml", ".yml")

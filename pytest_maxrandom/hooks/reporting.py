"""Gathers the claims of a run and writes its reports; lives in the controlling process only."""

from __future__ import annotations

import dataclasses
import os
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.hooks.failures import Failures, Mistakes
from pytest_maxrandom.hooks.options import Settings, read_settings
from pytest_maxrandom.hooks.run import RECORDS, Run, attached, run_name
from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.layout import Line
    from pytest_maxrandom.reports.trend import Trend

_MOST_CHANGES = 20
"""Changes that a terminal shows."""


class Reporting:
    """Hooks of the controller, around one :class:`pytest_maxrandom.hooks.run.Run`.

    Raises
    ------
    pytest.UsageError
        If a report could not be written when the run is over.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = read_settings(config)
        self._run = Run(self._settings.adjust)
        self._failures = Failures(config.option.tbstyle)
        self._said: list[str] = []
        self._unwritten = ""
        self._tests = not (config.option.collectonly or self._settings.dry_run)
        self._base = _base(config, self._settings) if self._tests else None
        if self._settings.predictions and self._tests:
            from pytest_maxrandom.reports.predictions import discard

            discard(self._settings.predictions)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take note of the claims that are going to be tested."""
        self._run.select(item.nodeid for item in session.items if RECORDS in item.stash)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Iterable[str]) -> None:
        """Take note of the claims that the workers are going to test."""
        root = node.config.rootpath
        self._run.select(name for name in ids if is_suite(root / name.partition("::")[0], root))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of suites that could not be collected."""
        root = self._config.rootpath
        if report.failed and is_suite(root / report.nodeid.partition("::")[0], root):
            mistakes = str(report.longrepr)
            self._run.broken += mistakes.splitlines()
            if not hasattr(report.longrepr, "reprcrash"):  # it was found, it did not happen to us
                shown: Any = Mistakes(mistakes)
                report.longrepr = shown

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over what a report says of claims."""
        _name_in_junit(self._config, report)
        self._run.add(report)
        self._failures.show(report)

    @pytest.hookimpl(specname="pytest_runtest_logreport", trylast=True)
    def pytest_type_failures(self, report: pytest.TestReport) -> None:
        """Tell in a JUnit report, which has the failure by now, claims that cannot be told.

        pytest takes no hook whose name does not begin so.
        """
        told = [record for _, record in attached(report)]
        if report.when == "call" and report.failed and any(map(itemgetter("cannot_tell"), told)):
            for of_item in _junit(self._config):
                for node in of_item(report).nodes:
                    if node.tag == "failure":
                        node.set("type", "cannot tell")

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the reports; a report that cannot be written is no success."""
        if not self._tests:
            return
        self._run.interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        if exitstatus == pytest.ExitCode.OK and (self._run.leaks() or self._is_worse()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED  # no item is about all tasks
        settings = self._settings
        written = settings.report, settings.json, settings.html, settings.predictions
        if not (any(written) or settings.figures):
            return
        try:
            self._write(self._record)
        except (OSError, MaxRandomError) as error:
            self._unwritten = f"no report was written: {error}"
            if exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @cached_property
    def _record(self) -> RunRecord:
        """The run when it has ended, with whether anything is worse where that is asserted."""
        run, asserted = self._run.record(), self._settings.diff_assert
        if self._base is not None and asserted is not None:
            from pytest_maxrandom.reports.recorded_looks import count_looks
            from pytest_maxrandom.reports.regressions import regressions

            count_looks(self._base, run, self._config.rootpath, run_name(self._config))
            since, whole = self._settings.diff or "", not _is_selection(self._config)
            run.regressions = regressions(self._base, run, since, asserted, gone=whole)
        return run

    def _is_worse(self) -> bool:
        """Tell whether what is asserted of this run and the earlier one is not met."""
        if self._base is None or self._settings.diff_assert is None:
            return False
        found = self._record.regressions
        return found is not None and not found.met

    def _write(self, run: RunRecord) -> None:
        settings = self._settings
        if settings.json or settings.report:
            from pytest_maxrandom.reports.page.cells import shareable

            run = shareable(run, settings.texts)
        if settings.predictions:
            from pytest_maxrandom.reports.predictions import gather

            gather(settings.predictions)
            self._said.append(f"predictions: {settings.predictions}")
        if settings.json:
            from pytest_maxrandom.reports.results import dump

            settings.json.write_text(dump(run), encoding="utf-8")
            self._said.append(f"numbers: {settings.json}")
        if settings.report:
            from pytest_maxrandom.reports.rendering import markdown

            settings.report.write_text(markdown(run, settings.templates), encoding="utf-8")
            self._said.append(f"report: {settings.report}")
        if settings.html:
            from pytest_maxrandom.reports.page.render import html

            own = settings.templates and any(settings.templates.glob("*.html.j2"))
            page = html(
                run,
                self._run.cells,
                settings.templates if own else None,
                texts=settings.texts,
                trend=self._trend(run),
            )
            settings.html.write_text(page, encoding="utf-8")
            self._said.append(f"page: {settings.html}")
        if settings.figures:
            from pytest_maxrandom.figures.catalogue import write_run

            written = write_run(run, settings.figures)
            told = "; ".join([str(settings.figures if written.files else "none"), *written.notes])
            self._said.append(f"figures: {told}")

    def _trend(self, run: RunRecord) -> list[Trend]:
        """Follow the claims over the ledger's looks, and from the report to compare with."""
        from pytest_maxrandom.ledger import FOLDER
        from pytest_maxrandom.ledger.summary import looks
        from pytest_maxrandom.reports.trend import trends

        beside = {self._config.rootpath / claim.suite for claim in run.claims}
        ledgers = dict.fromkeys(sorted(suite.parent / FOLDER for suite in beside))
        runs = [("this run", run)]
        if self._base is not None:
            runs.append((self._settings.diff or "", self._base))
        return trends(runs, looks(path for path in ledgers if path.is_dir()))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """Show the claims as a table, where there are any."""
        _show_ids_as_written(terminalreporter)
        if not self._tests or not (self._run or self._said or self._unwritten):
            return
        if config.option.no_summary:
            if self._unwritten:
                terminalreporter.line(self._unwritten, red=True)
            return
        terminalreporter.section("maxrandom")
        terminal = terminalreporter._tw
        if self._run:
            from pytest_maxrandom.reports.terminal import summary

            verbosity = terminalreporter.verbosity
            _write(terminal, summary(self._record, terminal.fullwidth, verbosity))
            for told in _uncommitted(self._record, config):
                terminal.line(told, yellow=True)
        for told in self._said:
            terminalreporter.line(told)
        if self._unwritten:
            terminalreporter.line(self._unwritten, red=True)
        if self._base is not None:
            from pytest_maxrandom.reports.difference import difference, lines

            named, base = self._settings.diff or "", self._base
            gone: Literal["of the suites", "none"]
            gone = "none" if _is_selection(config) else "of the suites"
            run = self._record
            changes = difference(named, base, "this run", run, gone)
            if run.regressions is not None:
                from pytest_maxrandom.reports.summary import names
                from pytest_maxrandom.reports.worse import lines as lost

                terminalreporter.section("maxrandom: did it get worse?")
                called = {**names(base), **names(run)}
                _write(terminal, lost(run.regressions, called, terminal.fullwidth))
            terminalreporter.section("maxrandom: what changed")
            _write(terminal, lines(changes, terminal.fullwidth, _MOST_CHANGES))


def _write(terminal: Any, lines: Iterable[Line]) -> None:
    for shown in lines:
        lead = len(shown.text) if shown.lead is None else shown.lead
        terminal.write(shown.text[:lead], **dict.fromkeys(shown.markup, True))
        terminal.line(shown.text[lead:])


def _uncommitted(run: RunRecord, config: pytest.Config) -> Iterator[str]:
    """Say in one line that a gate will miss tries of this run: those that no commit counts."""
    from pytest_maxrandom.ledger import FOLDER
    from pytest_maxrandom.ledger.uncommitted import uncommitted
    from pytest_maxrandom.reports.summary import records

    suites = {record.id.partition("::")[0] for record in records(run) if not record.simulated}
    found = uncommitted(sorted({(config.rootpath / each).parent / FOLDER for each in suites}))
    if found:
        number = sum(found.values())
        which = "1 prompt is" if number == 1 else f"{number:,} prompts are"
        here = config.invocation_params.dir
        named = " ".join(os.path.relpath(folder, here) for folder in found)
        yield f"{which} in no committed ledger, so a gate is red; commit {named}"


def _is_selection(config: pytest.Config) -> bool:
    """Tell whether a person asks for some tests of the files only."""
    chosen = ("keyword", "markexpr", "lf", "stepwise", "deselect")
    return any(getattr(config.option, name, None) for name in chosen) or any(
        "::" in each for each in config.args
    )


def _base(config: pytest.Config, settings: Settings) -> RunRecord | None:
    """Read the report to compare with before a run may write another one in its place."""
    if settings.diff is None:
        return None
    from pytest_maxrandom.reports.base_run import base_run

    try:
        here = config.invocation_params.dir
        return base_run(settings.diff, settings.json, here, settings.store)
    except MaxRandomError as error:
        raise pytest.UsageError(f"--maxrandom-diff: {error}") from error


# Ids of items that belong to a claim, such as ``task[model-0shot]::label_bias``: since pytest 9.2
# an id is taken apart at its first bracket, and what is shown is put together again with a bracket
# at the end, which such an id has not. It would be shown as none that can be selected.


def _show_ids_as_written(reporter: pytest.TerminalReporter) -> None:
    """Let the short summary name items by ids that can be selected."""
    for reports in reporter.stats.values():
        for report in reports:
            parts = getattr(report, "id", None)
            if parts is not None and _is_misread(report.nodeid):
                names = tuple(report.nodeid.split("::")[1:])
                report._id = dataclasses.replace(parts, names=names, params=None)


def _name_in_junit(config: pytest.Config, report: pytest.TestReport) -> None:
    """Let a JUnit report name an item as it is written; to be called before it takes the report."""
    if report.when != "setup" or not _is_misread(report.nodeid):
        return
    for of_item in _junit(config):
        of_item(report).add_attribute("name", report.nodeid.partition("::")[2])


def _junit(config: pytest.Config) -> Iterator[Any]:
    """Yield what gives the element of a test in a JUnit report, where one is written."""
    for plugin in config.pluginmanager.get_plugins():
        if (of_item := getattr(plugin, "node_reporter", None)) is not None:
            yield of_item


def _is_misread(node_id: str) -> bool:
    """Whether more than a bracket follows the first bracket of an item's name."""
    _, _, name = node_id.partition("::")
    return "[" in name and not name.endswith("]")

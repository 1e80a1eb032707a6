"""What the command line says: the plugin's options, and their values in one typed place."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest

from pytest_maxrandom.host import STORE, TRAINED_GB
from pytest_maxrandom.models.base import EngineName
from pytest_maxrandom.reports.page.cells import Texts, allowed_texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.record import Adjustment
    from pytest_maxrandom.reports.regressions import Asserted


def _texts(config: pytest.Config, option: str) -> Texts:
    return allowed_texts(config.getoption(option) or "auto", os.environ)


def _until(config: pytest.Config, option: str) -> Literal["all", "decided"] | None:
    """Return when sweeps stop; a predictions file holds all answers."""
    said: Literal["all", "decided"] | None = config.getoption(option)
    if not config.getoption("--maxrandom-predictions"):
        return said
    if said == "decided":
        raise pytest.UsageError(
            f"{option} decided skips answers, and --maxrandom-predictions needs all of them; "
            "remove one of the two"
        )
    return "all"


def _path(config: pytest.Config, option: str) -> Path | None:
    value = config.getoption(option)
    return config.invocation_params.dir / value if value else None


def _file(config: pytest.Config, option: str) -> Path | None:
    """Return the path of a file that can be written, as far as one can tell."""
    path = _path(config, option)
    if path and (path.is_dir() or not path.parent.is_dir()):
        found = f"the folder {path}" if path.is_dir() else f"no folder {path.parent}"
        raise pytest.UsageError(f"{option}: expected a file in a folder that exists, found {found}")
    return path


def _folder(config: pytest.Config, option: str) -> Path | None:
    path = _path(config, option)
    if path and not path.is_dir():
        raise pytest.UsageError(f"{option}: expected a folder, found none at {path}")
    return path


def _figures(config: pytest.Config, option: str) -> Path | None:
    """Return the path of a folder; it is made when there is something to draw."""
    path = _path(config, option)
    if path is None:
        return None
    if path.exists() and not path.is_dir():
        raise pytest.UsageError(f"{option}: expected a folder, found the file {path}")
    from pytest_maxrandom.figures import MISSING, installed

    if not installed():
        raise pytest.UsageError(f"{option}: {MISSING}")
    return path


def _store(config: pytest.Config, option: str) -> Path:
    """Return the path of a file; its folder is made when there is something to store."""
    path = _path(config, option) or config.rootpath / STORE
    if path.is_dir():
        raise pytest.UsageError(f"{option}: expected a file, found the folder {path}")
    return path


def _executor(config: pytest.Config, option: str) -> str:
    """Return where models are run; the command line overrules the configuration."""
    executor: str | None = config.getoption(option)
    where = option if executor is not None else "maxrandom_executor"
    if executor is None:
        executor = config.getini("maxrandom_executor") or "local"
    if executor == "local":
        return executor
    from pytest_maxrandom.sweeps.cluster.connection import MISSING, address_of, installed

    try:
        address_of(executor)
    except ValueError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
    if not installed():
        raise pytest.UsageError(f"{where}: {MISSING}")
    if getattr(config, "workerinput", None) or config.getoption("numprocesses", None):
        raise pytest.UsageError(
            f"{where}: {executor} spreads work over actors by itself, and one process leads them; "
            "remove -n"
        )
    return executor


def _positive(config: pytest.Config, option: str) -> int | None:
    value = config.getoption(option)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and int(value)):
        found = value or "nothing"
        raise pytest.UsageError(f"{option}: expected a whole number from 1 on, found {found}")
    return int(value)


def _asserted(config: pytest.Config, option: str) -> Asserted | None:
    """Return what is asserted of this run and an earlier one."""
    text = config.getoption(option)
    if text is None:
        return None
    from pytest_maxrandom.reports.regressions import Asserted

    if config.getoption("--maxrandom-diff") is None:
        raise pytest.UsageError(
            f"{option}: found no report to compare with; give it with --maxrandom-diff BASE"
        )
    try:
        return Asserted.read(text)
    except ValueError as error:
        raise pytest.UsageError(f"{option}: {error}") from None


def _option(
    meaning: str,
    unsaid: object = None,
    read: Callable[[pytest.Config, str], Any] = pytest.Config.getoption,
    **parsed: Any,
) -> Any:
    """Return a field of `Settings` with the option that sets it.

    `unsaid` is its value where the command line says nothing, of which `read` returns None;
    `parsed` is what else `argparse` takes.
    """
    parsed["help"] = meaning
    return field(default=unsaid, metadata={"read": read, "parsed": parsed})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all options, in the order of `--help`; the text of each says what it means."""

    report: Path | None = _option(
        "write a Markdown report of all claims to this file", read=_file, metavar="PATH.md"
    )
    json: Path | None = _option(
        "write the unrounded numbers of all claims, as JSON, to this file",
        read=_file,
        metavar="PATH.json",
    )
    html: Path | None = _option(
        "write an HTML page of all claims and their answers to this file",
        read=_file,
        metavar="PATH.html",
    )
    texts: Texts = _option(
        "which texts of questions reports and the page hold: all, or only those of suites "
        "with `share: texts` (shared); auto (the default) is shared if the environment variable "
        "CI is set, else all",
        "all",
        _texts,
        choices=("auto", *get_args(Texts)),
    )
    diff: str | None = _option(
        "show at the end what changed since an earlier JSON report, and why; BASE is a file, "
        "or a git revision that has the file of --maxrandom-json; outcomes do not depend on it",
        metavar="BASE",
    )
    diff_assert: Asserted | None = _option(
        "with --maxrandom-diff: fail if a claim is worse than in the earlier report, or if that "
        "cannot be told. not_worse_than=MARGIN, such as not_worse_than=-0.02, is the margin; "
        "behind commas: alpha=LEVEL, cannot_tell=pass, prompts=sample",
        read=_asserted,
        metavar="TEXT",
    )
    templates: Path | None = _option(
        "folder with Jinja2 templates that override blocks of the Markdown report and the page",
        read=_folder,
        metavar="DIR",
    )
    adjust: Adjustment = _option(
        "how the reports adjust p-values for the number of claims: Holm's method (the "
        "default), Benjamini and Hochberg's, or none; outcomes do not depend on it",
        "holm",
        choices=("holm", "bh", "none"),
    )
    predictions: Path | None = _option(
        "write every prompt's answer to every example, as JSON lines, to this file",
        read=_file,
        metavar="PATH.jsonl",
    )
    figures: Path | None = _option(
        "draw figures of all claims, as SVG and PNG files, in this folder; needs the extra plots",
        read=_figures,
        metavar="DIR",
    )
    engine: EngineName = _option(
        "how choices are scored: shared text is read once, in packed trees or in rows, or "
        "each text is read in full (plain); auto (the default) takes the fastest engine that "
        "is exact for the model",
        "auto",
        choices=get_args(EngineName),
    )
    batch_tokens: int | None = _option(
        "largest number of tokens in one forward pass (default: as many as memory allows)",
        read=_positive,
        metavar="N",
    )
    store: Path = _option(
        f"file that keeps the results of finished prompts (default: {STORE} in rootdir)",
        MISSING,
        _store,
        metavar="PATH",
    )
    trained_gb: int = _option(
        "largest size, in GB, of the folder, next to the store, that keeps trained weights; "
        f"the least recently used are removed (default: {TRAINED_GB})",
        TRAINED_GB,
        _positive,
        metavar="N",
    )
    fresh: bool = _option(
        "compute all results again, even if earlier runs stored them", False, action="store_true"
    )
    until: Literal["all", "decided"] | None = _option(
        "when sweeps stop, instead of what suites say. decided: as soon as the verdict is "
        "known, if t is declared (prompts: {budget: N}); all: after all answers",
        read=_until,
        choices=("all", "decided"),
    )
    dry_run: bool = _option(
        "test nothing, and show what the selected claims would cost: prompts, tokens, forward "
        "passes, and the time, estimated from a few prompts of each model",
        False,
        action="store_true",
    )
    no_test: bool = _option("do not open held-out test sets", False, action="store_true")
    shards: Path | None = _option(
        "judge the results of the shards in this folder; `maxrandom join DIR` sets this option "
        "itself",
        read=_folder,
        metavar="DIR",
    )
    executor: str = _option(
        "where models are run: in this process (local, the default), on a new Ray cluster on "
        "this machine (ray), or on the Ray cluster at an address (ray:ADDRESS); needs the "
        "extra ray",
        "local",
        _executor,
        metavar="local|ray[:ADDRESS]",
    )


_SETTINGS = pytest.StashKey[Settings]()
_OPTIONS = {f"--maxrandom-{each.name.replace('_', '-')}": each for each in fields(Settings)}


def add_options(parser: pytest.Parser) -> None:
    """Add the plugin's options to pytest's."""
    group = parser.getgroup("maxrandom", "honest few-shot evaluation")
    for option, setting in _OPTIONS.items():
        group.addoption(option, **setting.metadata["parsed"])
    parser.addini("maxrandom_executor", "where models are run, as for --maxrandom-executor")


def read_settings(config: pytest.Config) -> Settings:
    """Read the options, once for each process.

    Raises
    ------
    pytest.UsageError
        In one sentence, for a value that cannot be used.
    """
    if _SETTINGS not in config.stash:
        said = {
            setting.name: setting.metadata["read"](config, option)
            for option, setting in _OPTIONS.items()
        }
        config.stash[_SETTINGS] = Settings(
            **{name: value for name, value in said.items() if value is not None}
        )
    return config.stash[_SETTINGS]

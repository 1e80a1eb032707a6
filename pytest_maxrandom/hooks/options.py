"""What the command line says: the plugin's options, and their values in one typed place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import pytest

from pytest_maxrandom.host import STORE, TRAINED_GB
from pytest_maxrandom.models.base import EngineName
from pytest_maxrandom.reports.page.cells import Texts, allowed_texts

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import Adjustment


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all options.

    Attributes
    ----------
    report, json, html, templates : Path or None
        Where the reports are written to, and the folder with their overrides.
    texts : str
        Whether reports and the page hold the texts of all suites, or only of those that share them.
    diff : str or None
        The earlier report to compare with: a file, or a git revision.
    adjust : str
        How the reports adjust p-values for the number of claims.
    predictions : Path or None
        Where the answers of all prompts are written to.
    figures : Path or None
        The folder that figures are written to.
    engine : str
        How choices are scored; auto takes the fastest way that is exact for the model.
    batch_tokens : int or None
        Tokens of a batch at most; None leaves it to the memory at hand.
    store : Path
        The file that keeps the results of finished prompts.
    fresh : bool
        Whether results of earlier runs are computed again.
    no_test : bool
        Whether held-out test sets stay closed.
    shards : Path or None
        The folder of joined shards, whose results are read in place of the store's.
    until : str or None
        When sweeps stop, in place of what suites say.
    dry_run : bool
        Whether claims are not tested, and their cost is shown instead.
    executor : str
        Where models are run: local, ray or ray:ADDRESS.
    """

    report: Path | None = None
    json: Path | None = None
    html: Path | None = None
    texts: Texts = "all"
    templates: Path | None = None
    diff: str | None = None
    adjust: Adjustment = "holm"
    predictions: Path | None = None
    figures: Path | None = None
    engine: EngineName = "auto"
    batch_tokens: int | None = None
    store: Path
    trained_gb: int = TRAINED_GB
    fresh: bool = False
    no_test: bool = False
    shards: Path | None = None
    until: Literal["all", "decided"] | None = None
    dry_run: bool = False
    executor: str = "local"


_SETTINGS = pytest.StashKey[Settings]()


def add_options(parser: pytest.Parser) -> None:
    """Add the plugin's options to pytest's."""
    group = parser.getgroup("maxrandom", "honest few-shot evaluation")
    group.addoption(
        "--maxrandom-report",
        metavar="PATH.md",
        help="write a Markdown report of all claims to this file",
    )
    group.addoption(
        "--maxrandom-json",
        metavar="PATH.json",
        help="write the unrounded numbers of all claims, as JSON, to this file",
    )
    group.addoption(
        "--maxrandom-html",
        metavar="PATH.html",
        help="write an HTML page of all claims and their answers to this file",
    )
    group.addoption(
        "--maxrandom-texts",
        choices=("auto", *get_args(Texts)),
        default="auto",
        help="which texts of questions reports and the page hold: all, or only those of suites "
        "with `share: texts` (shared); auto (the default) is shared if the environment variable "
        "CI is set, else all",
    )
    group.addoption(
        "--maxrandom-diff",
        metavar="BASE",
        help="show at the end what changed since an earlier JSON report, and why; BASE is a file, "
        "or a git revision that has the file of --maxrandom-json; outcomes do not depend on it",
    )
    group.addoption(
        "--maxrandom-templates",
        metavar="DIR",
        help="folder with Jinja2 templates that override blocks of the Markdown report and the "
        "page",
    )
    group.addoption(
        "--maxrandom-adjust",
        choices=("holm", "bh", "none"),
        default="holm",
        help="how the reports adjust p-values for the number of claims: Holm's method (the "
        "default), Benjamini and Hochberg's, or none; outcomes do not depend on it",
    )
    group.addoption(
        "--maxrandom-predictions",
        metavar="PATH.jsonl",
        help="write every prompt's answer to every example, as JSON lines, to this file",
    )
    group.addoption(
        "--maxrandom-figures",
        metavar="DIR",
        help=(
            "draw figures of all claims, as SVG and PNG files, in this folder; needs the extra "
            "plots"
        ),
    )
    group.addoption(
        "--maxrandom-engine",
        choices=get_args(EngineName),
        default="auto",
        help="how choices are scored: shared text is read once, in packed trees or in rows, or "
        "each text is read in full (plain); auto (the default) takes the fastest engine that "
        "is exact for the model",
    )
    group.addoption(
        "--maxrandom-batch-tokens",
        metavar="N",
        help="largest number of tokens in one forward pass (default: as many as memory allows)",
    )
    group.addoption(
        "--maxrandom-store",
        metavar="PATH",
        help=f"file that keeps the results of finished prompts (default: {STORE} in rootdir)",
    )
    group.addoption(
        "--maxrandom-trained-gb",
        metavar="N",
        help="largest size, in GB, of the folder, next to the store, that keeps trained weights; "
        f"the least recently used are removed (default: {TRAINED_GB})",
    )
    group.addoption(
        "--maxrandom-fresh",
        action="store_true",
        help="compute all results again, even if earlier runs stored them",
    )
    group.addoption(
        "--maxrandom-until",
        choices=("all", "decided"),
        help="when sweeps stop, instead of what suites say. decided: as soon as the verdict is "
        "known, if t is declared (prompts: {budget: N}); all: after all answers",
    )
    group.addoption(
        "--maxrandom-dry-run",
        action="store_true",
        help="test nothing, and show what the selected claims would cost: prompts, tokens, forward "
        "passes, and the time, estimated from a few prompts of each model",
    )
    group.addoption(
        "--maxrandom-no-test",
        action="store_true",
        help="do not open held-out test sets",
    )
    group.addoption(
        "--maxrandom-shards",
        metavar="DIR",
        help=(
            "judge the results of the shards in this folder; `maxrandom join DIR` sets this option "
            "itself"
        ),
    )
    group.addoption(
        "--maxrandom-executor",
        metavar="local|ray[:ADDRESS]",
        help="where models are run: in this process (local, the default), on a new Ray cluster on "
        "this machine (ray), or on the Ray cluster at an address (ray:ADDRESS); needs the "
        "extra ray",
    )
    parser.addini("maxrandom_executor", "where models are run, as for --maxrandom-executor")


def read_settings(config: pytest.Config) -> Settings:
    """Read the options, once for each process.

    Raises
    ------
    pytest.UsageError
        In one sentence, for a value that cannot be used.
    """
    if _SETTINGS not in config.stash:
        config.stash[_SETTINGS] = Settings(
            report=_file(config, "--maxrandom-report"),
            json=_file(config, "--maxrandom-json"),
            html=_file(config, "--maxrandom-html"),
            texts=allowed_texts(config.getoption("maxrandom_texts"), os.environ),
            templates=_folder(config, "--maxrandom-templates"),
            diff=config.getoption("maxrandom_diff"),
            adjust=config.getoption("maxrandom_adjust"),
            predictions=_file(config, "--maxrandom-predictions"),
            figures=_figures(config, "--maxrandom-figures"),
            engine=config.getoption("maxrandom_engine"),
            batch_tokens=_positive(config, "--maxrandom-batch-tokens"),
            store=_store(config, "--maxrandom-store"),
            trained_gb=_positive(config, "--maxrandom-trained-gb") or TRAINED_GB,
            fresh=config.getoption("maxrandom_fresh"),
            no_test=config.getoption("maxrandom_no_test"),
            shards=_folder(config, "--maxrandom-shards"),
            until=_until(config),
            dry_run=config.getoption("maxrandom_dry_run"),
            executor=_executor(config, "--maxrandom-executor"),
        )
    return config.stash[_SETTINGS]


def _until(config: pytest.Config) -> Literal["all", "decided"] | None:
    """Return when sweeps stop; a predictions file holds all answers."""
    option = "--maxrandom-until"
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
    said: str | None = config.getoption(option)
    where = option if said is not None else "maxrandom_executor"
    if said is None:
        said = config.getini("maxrandom_executor") or "local"
    if said == "local":
        return said
    from pytest_maxrandom.sweeps.cluster.connection import MISSING, address_of, installed

    try:
        address_of(said)
    except ValueError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
    if not installed():
        raise pytest.UsageError(f"{where}: {MISSING}")
    if getattr(config, "workerinput", None) or config.getoption("numprocesses", None):
        raise pytest.UsageError(
            f"{where}: {said} spreads work over actors by itself, and one process leads them; "
            "remove -n"
        )
    return said


def _positive(config: pytest.Config, option: str) -> int | None:
    value = config.getoption(option)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and int(value)):
        found = value or "nothing"
        raise pytest.UsageError(f"{option}: expected a whole number from 1 on, found {found}")
    return int(value)

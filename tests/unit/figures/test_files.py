"""Files of figures: valid, the same bytes each time, readable in print and in grey."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image
from matplotlib.text import Text

from pytest_maxrandom import figures
from pytest_maxrandom.figures import FORMATS, style
from pytest_maxrandom.figures.catalogue import (
    Catalogue,
    of_numbers,
    of_run,
    of_trends,
    write_all,
)
from pytest_maxrandom.reports.results import dump
from pytest_maxrandom.reports.trend import trends
from tests.unit.figures import common
from tests.unit.reports import samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytest_maxrandom.record import ClaimRecord, RunRecord

LONG = "organisation/a_model_with_a_name_that_is_longer_than_sixty_characters_in_all-70B"


def _run(*claims: ClaimRecord) -> RunRecord:
    return samples.run(*(claims or common.grid(["demo"], [4])))


def _many() -> list[ClaimRecord]:
    return [
        samples.claim(best=35 + number, task=f"{LONG}_{number}", model=LONG, shots=shots)
        for number in range(5)
        for shots in (0, 4, 32)
    ]


def _course() -> Catalogue:
    claims = _many()[:5]
    return of_trends(trends([(f"{LONG}.json", _run(*claims)), ("now", _run(*claims))]))


Drawn = dict[str, list[tuple[str, "Figure"]]]


@pytest.fixture(
    scope="module", params=[pytest.param(style.WIDTH, marks=pytest.mark.slow), style.NARROWEST]
)
def width(request: pytest.FixtureRequest) -> float:
    """As wide as a page, and as narrow as they may be."""
    inches: float = request.param
    return inches


@pytest.fixture(scope="module")
def drawn(width: float) -> Drawn:
    """Every figure of few claims, of many, of numbers alone, and of courses."""
    catalogues = {
        "few": of_run(_run()),
        "many": of_run(_run(*_many())),
        "numbers": of_numbers([2, 4], 100, 200),
        "course": _course(),
    }
    with style.applied(width):
        return {
            kind: [figure for draw in each.families.values() for figure in draw()]
            for kind, each in catalogues.items()
        }


def _texts(figure: Figure) -> list[Text]:
    texts = (text for text in figure.findobj(Text) if isinstance(text, Text))
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.mark.slow
def test_every_format_holds_a_picture_and_no_setting_of_the_user_changes(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    drawn = of_run(_run()).only(["best_of_t", "histogram", "p_contours"])
    written = write_all([drawn], tmp_path, FORMATS)
    assert dict(mpl.rcParams) == before
    stems = {path.stem for path in written.files}
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{stem}.{ending}" for stem in stems for ending in FORMATS
    }
    for path in written.files:
        content = path.read_bytes()
        if path.suffix == ".svg":
            assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        elif path.suffix == ".pdf":
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")
        else:
            pixels = image.imread(path)
            assert pixels.shape[2] == 4
            assert pixels.std() > 0.05


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes_whatever_else_differs(tmp_path: Path) -> None:
    results = tmp_path / "r.json"
    results.write_text(dump(_run(samples.claim())))
    command = [sys.executable, "-m", "pytest_maxrandom.cli", "figures", str(results)]
    contents = []
    for seed, (name, epoch) in enumerate((("one", "0"), ("two", "1000000000"))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "matplotlibrc").write_text(f"font.size: {10 + seed}\naxes.grid: {bool(seed)}\n")
        subprocess.run(
            [*command, "--formats", ",".join(FORMATS), "--out", "."],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "SOURCE_DATE_EPOCH": epoch},
            check=True,
            capture_output=True,
        )
        (folder / "matplotlibrc").unlink()
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert {name.rpartition(".")[2] for name in contents[0]} == {*FORMATS}
    assert contents[0] == contents[1]


def test_no_module_asks_for_what_looks_for_a_window_system() -> None:
    modules = Path(figures.__file__).parent.glob("*.py")
    assert [path.name for path in modules if "pyplot" in path.read_text(encoding="utf-8")] == []


def test_no_letter_is_smaller_than_seven_points_and_none_is_cut(drawn: Drawn, width: float) -> None:
    for name, figure in itertools.chain(*drawn.values()):
        assert min(float(text.get_fontsize()) for text in _texts(figure)) >= 7
        assert figure.get_figwidth() <= width + 1e-9
        box = figure.get_tightbbox()
        assert box.x0 > -0.02, name
        assert box.y0 > -0.02, name
        assert box.x1 < figure.get_figwidth() + 0.02, name
        assert box.y1 < figure.get_figheight() + 0.02, name


def test_letters_stand_out_from_the_paper(drawn: Drawn) -> None:
    """WCAG 2.2: a contrast of at least 4.5 with white."""
    for _, figure in itertools.chain(*drawn.values()):
        for text in _texts(figure):
            linear = _linear(np.array(mpl.colors.to_rgb(text.get_color())))
            luminance = float(linear @ [0.2126, 0.7152, 0.0722])
            assert 1.05 / (luminance + 0.05) >= 4.5, text


def test_a_figure_states_n_and_t(drawn: Drawn) -> None:
    for name, figure in drawn["few"]:
        words = " ".join(text.get_text() for text in _texts(figure))
        assert "n = 40" in words, name
        assert "t = 10" in words, name


def test_colours_are_told_apart_by_dichromats() -> None:
    """Distances in CIELAB after the simulation of Machado et al. (2009) at full severity."""
    simulations = {
        "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
        "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                   [-0.011820, 0.042940, 0.968881]],
    }  # fmt: skip
    one, best = (np.array(mpl.colors.to_rgb(c)) for c in (style.STANDARD, style.MAXIMUM))
    for matrix in simulations.values():
        seen = [np.array(matrix) @ _linear(colour) for colour in (one, best)]
        assert np.linalg.norm(_lab(seen[0]) - _lab(seen[1])) > 20


def test_names_in_capitals_and_small_letters_do_not_overwrite_each_other(tmp_path: Path) -> None:
    models = ["Demo", "demo", "DEMO/", "other"]
    catalogue = of_run(_run(*common.grid(models, [4])))
    write_all([catalogue.only(["best_of_t"])], tmp_path, ["svg"])
    names = [path.name for path in tmp_path.glob("best_of_t*.svg")]
    assert len({name.casefold() for name in names}) == 4


def test_figures_beyond_the_most_are_not_drawn_and_counted(tmp_path: Path) -> None:
    models = [f"model {number}" for number in range(5)]
    catalogue = of_run(_run(*common.grid(models, [4]))).only(["best_of_t"])
    written = write_all([catalogue], tmp_path / "few", ["svg"], most=1)
    assert [path.name for path in written.files] == ["best_of_t-model-0.svg"]
    assert written.notes == [
        "best_of_t: drew the first 1 of 5 figures; for all, run `maxrandom figures` with --only "
        "best_of_t --most 5"
    ]
    drawn = [name for name, _ in itertools.islice(catalogue.families["best_of_t"](), 2)]
    assert drawn == ["best_of_t-model-0", "best_of_t-model-1"]


def test_a_claim_without_p_max_is_left_out_and_said(tmp_path: Path) -> None:
    catalogue = of_run(_run(samples.claim(), samples.untested())).only(["best_of_t"])
    written = write_all([catalogue], tmp_path, ["svg"])
    assert written.files
    assert written.notes == ["left out 1 claim without p_max: emoji_movie[OLMo-7B-4shot]"]


def test_what_one_figure_leaves_out_is_said_of_that_figure() -> None:
    unknown = samples.claim(task="c", validation=None, max_random_baseline=0.9)
    uncounted = [samples.claim(task=task, correct_counts=[]) for task in ("b", "d")]
    found = of_run(_run(samples.claim(), *uncounted, unknown, samples.scored(task="e")))
    others = "1 claim without every example's chance, 1 claim whose metric is macro-F1"
    assert list(found.notes.values()) == [
        f"selection: left out 2 claims without every prompt's count, {others}",
        f"histogram: left out 2 claims without every prompt's count, {others}",
        f"baseline_over_t_and_n: left out {others}",
        f"p_contours: left out {others}",
    ]


@pytest.mark.slow
def test_names_that_look_like_formulas_and_markup_are_drawn_as_they_are(tmp_path: Path) -> None:
    names = ("$\\frac{$", "<b>&amp;", "中\n文", "a" * 300)
    claims = [samples.claim(task=name, model=name) for name in names]
    for path in write_all([of_run(_run(*claims))], tmp_path, ["svg"]).files:
        ET.fromstring(path.read_bytes())


def _linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ np.clip(linear, 0, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])

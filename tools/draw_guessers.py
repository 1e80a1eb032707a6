"""Draw the picture of the first page: one random guesser beside the best of 200."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from pytest_maxrandom import MaxRandomBaseline

N, CHANCE, T = 100, 0.5, 200
BLUE, ORANGE = "#0072B2", "#D55E00"


def draw(path: Path) -> None:
    """Write the picture as SVG, the same bytes each time."""
    mpl.rcParams.update({"svg.hashsalt": "maxrandom", "font.size": 10, "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(7.2, 2.6), layout="constrained")
    figure.patch.set_facecolor("white")
    counts = range(35, 80)
    for t, colour, hatch, name in (
        (1, BLUE, "", "one guesser"),
        (T, ORANGE, "////", f"best of {T}"),
    ):
        best = MaxRandomBaseline(n=N, chance=CHANCE, t=t)
        heights = [best.pmf(count) for count in counts]
        axes.bar(
            [count / N for count in counts],
            heights,
            width=0.0092,
            color=colour,
            alpha=0.75,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.4,
        )
        mean = best.expected_accuracy
        axes.annotate(
            f"{name}\nexpected {mean:.3f}",
            (mean, max(heights)),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            color=colour,
        )
    axes.set_ylim(0, 0.26)
    axes.set_xlabel(f"accuracy on n = {N} two-choice questions, by guessing")
    axes.set_ylabel("probability")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).parents[1] / "docs" / "best-of-guessers.svg"
    parser.add_argument("--out", type=Path, default=default)
    draw(parser.parse_args().out)

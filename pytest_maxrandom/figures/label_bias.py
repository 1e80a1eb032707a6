"""Base rates against accuracy by right answer: does the best prompt prefer a label?

After the figures of arXiv 2406.11634.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from pytest_maxrandom.figures.axes import accuracy_axis
from pytest_maxrandom.figures.labels import settle, short, write_where_free
from pytest_maxrandom.figures.panels import Figures, frame, legend, numbered, pages, per_file, title
from pytest_maxrandom.figures.style import BLACK, GREY, ORANGE, PALE, SMALL, WIDTH, marks
from pytest_maxrandom.notation import count, signed
from pytest_maxrandom.reports.label_bias import label_checked, r_interval
from pytest_maxrandom.reports.summary import files, label, model_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.record import InteractionBias, LabelRow, RunRecord

_MOST = 12
"""Panels of a file."""
_WIDTHS = (WIDTH / 2, WIDTH * 2 / 3, WIDTH)
_PANEL = 2.15
"""Inches that a panel is high, with its title."""
_NAME = 12
"""Characters of a label in a panel."""
_UPRIGHT = 10
"""Letters of all labels below an axis that stand upright beside each other."""
_RECALL, _SHARE = "recall", "share of the answers"
_LINE: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (1, 2))}
"""Of chance."""
_LOOKS = {_RECALL: ("o", BLACK, BLACK), _SHARE: ("D", "white", ORANGE)}
"""Mark, its face and its edge."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One claim in one way of asking."""

    setting: str
    model: str
    asked: str
    """The task with its shots, the model, and how labels were asked for."""
    n: int
    t: int
    labels: tuple[LabelRow, ...]
    """Those that are the right answer of some example."""
    chance: float
    """The claim's standard baseline; 1/m where the run does not have the claim."""
    correlation: str
    """Of base rates and recalls, with its interval below; empty where there is none."""

    @property
    def has_rates(self) -> bool:
        """Whether every label has a base rate."""
        return all(row.base_rate is not None for row in self.labels)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Base rate and recall of each label."""
        return [(row.base_rate or 0.0, row.recall or 0.0) for row in self.labels]

    @property
    def names(self) -> list[str]:
        """What is written of each label."""
        return short([row.label for row in self.labels], _NAME)


def panels_of(run: RunRecord) -> tuple[list[Panel], list[str]]:
    """Return a panel for each way of asking, and the names of checks that have none."""
    where = files(run)
    chances = {claim.id: claim.standard_baseline for claim in run.claims}
    panels = []
    for record in label_checked(run):
        for bias in record.interactions:
            labels = tuple(row for row in bias.labels if row.recall is not None)
            if labels:
                task = ", ".join(filter(None, (record.task, where[record.id])))
                panels.append(
                    Panel(
                        setting=f"{task}, {record.shots}-shot",
                        model=model_name(record),
                        asked=f"{record.check}, {bias.interaction}",
                        n=bias.n,
                        t=bias.t,
                        labels=labels,
                        chance=chances.get(record.claim) or 1 / len(bias.labels),
                        correlation=_correlation(bias),
                    )
                )
    return panels, [label(record) for record in run.label_bias if not record.interactions]


def figures(panels: Sequence[Panel]) -> Figures:
    """Draw one panel for each way of asking, at most twelve in a file."""
    return Figures(numbered("label_bias", base_rates, pages(panels, per_file(_MOST, 3))))


def base_rates(panels: Sequence[Panel]) -> Figure:
    """Draw recall over base rate, a mark for each label.

    Where base rates are not known, labels stand beside each other, with their shares of the
    answers.
    """
    figure, grid, columns = frame(len(panels), _WIDTHS, 0.55, _PANEL)
    longest = 34 if columns > 1 else 46
    settings = short([panel.setting for panel in panels], longest)
    for axes, panel, setting in zip(grid, panels, settings, strict=True):
        (_over_rates if panel.has_rates else _side_by_side)(axes, panel)
        axes.axhline(panel.chance, zorder=1, **_LINE)
        axes.set_ylim(-0.06, 1.06)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        accuracy_axis(axes.yaxis)
        axes.grid(True, color=PALE, linewidth=0.6)
        stated = f"n = {count(panel.n)}, t = {count(panel.t)}"
        title(axes, setting, *short([panel.model], longest), panel.asked, stated)
    figure.supylabel("accuracy by right answer (recall)", size=SMALL)
    shown = [_RECALL] if all(panel.has_rates for panel in panels) else [_RECALL, _SHARE]
    handles = [Line2D([], [], **marks(*_LOOKS[name], 5, 1), label=name) for name in shown]
    handles.append(Line2D([], [], label="standard baseline", **_LINE))
    legend(figure, handles)
    settle(figure)
    for axes, panel in zip(grid, panels, strict=True):
        if panel.has_rates:
            _name_points(axes, panel)
    return figure


def _correlation(bias: InteractionBias) -> str:
    if bias.r is None:
        return ""
    interval = r_interval(bias)
    return f"r = {signed(bias.r, 2)}" + f"\n95 %: {interval}" * bool(interval)


def _over_rates(axes: Axes, panel: Panel) -> None:
    rates, recalls = zip(*panel.points, strict=True)
    axes.plot(rates, recalls, **marks(*_LOOKS[_RECALL], 4.2, 1), zorder=3)
    room = 0.14 * ((max(rates) - min(rates)) or max(rates) or 1.0)
    axes.set_xlim(min(rates) - room, max(rates) + room)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    accuracy_axis(axes.xaxis)
    axes.set_xlabel("base rate of the label", size=SMALL)


def _side_by_side(axes: Axes, panel: Panel) -> None:
    places = range(len(panel.labels))
    for name, heights in (
        (_SHARE, [row.predicted for row in panel.labels]),
        (_RECALL, [row.recall or 0.0 for row in panel.labels]),
    ):
        axes.plot(places, heights, **marks(*_LOOKS[name], 4.2, 1), zorder=3)
    slant = len("".join(panel.names)) > _UPRIGHT
    axes.set_xticks(
        places, panel.names, rotation=60 if slant else 0, ha="right" if slant else "center"
    )
    axes.set_xlim(-0.6, len(panel.labels) - 0.4)
    axes.set_xlabel("label", size=SMALL)


_MARK = 3.0
"""Points from the middle of a mark to its edge, with a little room."""
_STEPS = (5.0, 11.0, 19.0, 29.0, 41.0)
"""Points from a mark to its name; the near ones are tried first."""
_LED = 8.0
"""Points from which on a line leads from the mark to its name."""
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_ALIGNED = {-1: "right", 0: "center", 1: "left"}
_STANDING = {-1: "top", 0: "center", 1: "bottom"}
_PLACES = ((-1, 1), (1, -1), (1, 1), (-1, -1), (0, 1), (0, -1), (-1, 0), (1, 0), (0, 0))
"""Of a remark, as sides of the panel: its corners are tried first."""


def _name_points(axes: Axes, panel: Panel) -> None:
    """Write the correlation and the labels' names; the panel must have its final size."""
    pixels = axes.transData.transform(panel.points).tolist()
    wide = _MARK * axes.figure.dpi / 72
    taken = [Bbox([[x - wide, y - wide], [x + wide, y + wide]]) for x, y in pixels]
    level = float(axes.transData.transform((0.0, panel.chance))[1])
    taken.append(Bbox([[axes.bbox.x0, level - 1], [axes.bbox.x1, level + 1]]))
    if panel.correlation:
        taken.append(write_where_free(axes, panel.correlation, _in_corners(), taken)[1])
    # A name may touch its own mark.
    for place, (name, point) in enumerate(zip(panel.names, panel.points, strict=True)):
        others = [box for index, box in enumerate(taken) if index != place]
        taken.append(write_where_free(axes, name, _beside(point), others)[1])


def _in_corners() -> Iterator[dict[str, Any]]:
    """Yield the places of a text in the corners, and then at the edges, of a panel."""
    for right, up in _PLACES:
        yield {
            "xy": ((1 + right) / 2, (1 + up) / 2),
            "xycoords": "axes fraction",
            "xytext": (-3 * right, -3 * up),
            "ha": _ALIGNED[-right],
            "va": _STANDING[-up],
            "multialignment": "left",
        }


def _beside(point: tuple[float, float]) -> Iterator[dict[str, Any]]:
    """Yield the places of a text about a point, the near ones first."""
    led = {"arrowstyle": "-", "lw": 0.6, "color": GREY, "shrinkA": 0, "shrinkB": 2}
    for step, (right, up) in product(_STEPS, _SIDES):
        yield {
            "xy": point,
            "xytext": (step * right, step * up),
            "ha": _ALIGNED[right],
            "va": _STANDING[up],
            "arrowprops": led if step >= _LED else None,
        }

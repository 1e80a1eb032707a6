"""HTML that needs nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pytest_maxrandom.reports import text
from pytest_maxrandom.reports.tables import Dialect, Drawing, Mark, Name, in_brackets, in_our_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.reports.references import Reference
    from pytest_maxrandom.reports.tables import Cell, Detail, Fact, Group, Kind, Piece, Table

_CLASSES: dict[Kind, str] = {"text": "", "prose": ' class="text"'}
_NUMBER = ' class="number"'


def plain(value: str) -> str:
    """Write running text that reads as it stands."""
    return escape(text.visible(value))


def code(value: str) -> str:
    """Write a name."""
    return f"<code>{plain(value)}</code>" if value else "<em>(empty)</em>"


def cell(value: str, limit: int = 60) -> str:
    """Write a name, shortened to `limit` characters."""
    return code(text.shorten(text.visible(value), limit))


def block(value: str, limit: int = 4000) -> str:
    """Write lines as they are, without the middle of what is longer than `limit` characters."""
    lines = text.middle_left_out(value, limit).split("\n")
    return f"<pre>{escape(chr(10).join(map(text.visible, lines)))}</pre>"


def statistics(value: str) -> str:
    """Write running text with p_max as a formula."""
    return plain(value).replace("p_max", "<i>p</i><sub>max</sub>")


def table(shown: Table) -> str:
    """Write a table that scrolls by itself, with its caption, and its legend below."""
    groups, rows = shown.laid_out("html")
    caption = " ".join(filter(None, [shown.caption, shown.left_out])) or shown.title
    about = f"{code(shown.about)}: " if shown.about else ""
    label = ", ".join(filter(None, [shown.title, shown.about]))
    lines = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{plain(label)}">',
        "<table>",
        f'<caption><span class="key">{about}{_words(caption)}</span></caption>',
        "<thead>",
        f"<tr>{''.join(map(_heading_of, groups))}</tr>",
        "</thead>",
        "<tbody>",
    ]
    for row in rows:
        cells = (_cell_of(*each) for each in zip(groups, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>", "</div>"]
    if legend := shown.legend_of("html"):
        lines.append(f'<p class="soft">{_words(legend)}</p>')
    return "\n".join(lines) + "\n"


def fact_list(facts: Sequence[Fact]) -> str:
    """Write facts as a list of titles and descriptions."""
    lines = (f"<dt>{statistics(title)}</dt><dd>{_phrase(phrase)}</dd>\n" for title, phrase in facts)
    return f"<dl>\n{''.join(lines)}</dl>\n"


def detail(shown: Detail) -> str:
    """Fold all that is known of a record."""
    told = f": {plain(shown.told)}" if shown.told else ""
    lines = [
        "<details>\n",
        f"<summary>{_piece(shown.mark)} {code(shown.name)}{told}</summary>\n",
        fact_list(shown.facts),
        *map(table, shown.tables),
    ]
    for title, facts, tables in shown.parts:
        lines += [f"<h3>{plain(title)}</h3>\n", fact_list(facts), *map(table, tables)]
    return "".join([*lines, "</details>\n"])


def _heading_of(group: Group) -> str:
    lines = "<br>".join(group.written(_words, _piece))
    return f'<th scope="col"{_CLASSES.get(group.kind, _NUMBER)}>{lines}</th>'


def _cell_of(group: Group, pieces: Cell) -> str:
    inside, style = "<br>".join(map(_piece, pieces)), _CLASSES.get(group.kind, _NUMBER)
    return f'<th scope="row"{style}>{inside}</th>' if group.header else f"<td{style}>{inside}</td>"


def _phrase(phrase: str | Cell) -> str:
    return statistics(phrase) if isinstance(phrase, str) else "".join(map(_inline, phrase))


def _inline(piece: Piece) -> str:
    return f"{plain(piece.before)}{code(piece.text)}" if isinstance(piece, Name) else _piece(piece)


def _piece(piece: Piece) -> str:
    match piece:
        case Name():
            return f"{plain(piece.before)}{cell(piece.text, piece.limit)}"
        case Mark():
            sign = f'<span aria-hidden="true">{piece.sign}</span>'
            return f'<span class="mark {piece.word.split()[0]}">{sign} {piece.word}</span>'
        case Drawing():
            return _drawn(piece)
        case str():
            return statistics(piece)


def _drawn(drawing: Drawing) -> str:
    """Draw the unit interval."""
    shapes = ['<rect class="all" width="100" height="14"/>']
    if drawing.bar is not None:
        shapes.append(f'<rect class="best" y="2" width="{_place(drawing.bar)}" height="10"/>')
    shapes += [f'<path class="draw" d="M{_place(draw)} 2v10"/>' for draw in drawing.draws]
    for name, value in (("standard", drawing.standard), ("highest", drawing.highest)):
        if value is not None:
            shapes.append(f'<path class="{name}" d="M{_place(value)} 0v14"/>')
    size = 'viewBox="0 0 100 14" width="120" height="17" aria-hidden="true"'
    return f"<svg {size}>{''.join(shapes)}</svg>"


def _place(value: float) -> str:
    return f"{100 * min(max(value, 0), 1):.1f}"


def _words(words: str) -> str:
    return in_our_words(words, statistics, lambda word: f"<i>{statistics(word)}</i>")


def _cite(references: Sequence[Reference]) -> str:
    return in_brackets(
        references, lambda one: f'<a href="{escape(one.link)}">{escape(one.place)}</a>'
    )


HTML = Dialect(
    "HTML",
    ".html.j2",
    plain,
    {"code": code, "cell": cell, "block": block, "statistics": statistics},
    _cite,
    lambda title: f"<h2>{escape(title)}</h2>",
    table,
    fact_list,
    detail,
)

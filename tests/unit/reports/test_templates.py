"""A user's templates override ours block by block, are safe by default, and fail clearly."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.html import HTML
from pytest_maxrandom.reports.latex import LATEX
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.rendering import (
    disclosure,
    environment,
    latex,
    markdown,
    templates_folder,
)
from tests.unit.reports.opened import html
from tests.unit.reports.page import read
from tests.unit.reports.samples import claim, designed, recorded, run, several

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCKS = {
    "report.md.j2": (
        "page",
        "header",
        "headline",
        "attention",
        "changed",
        "agreement",
        "table",
        "designs",
        "details",
        "disclosure",
        "footer",
    ),
    "report.html.j2": (
        "page",
        "title",
        "style",
        "header",
        "headline",
        "attention",
        "changed",
        "agreement",
        "table",
        "designs",
        "details",
        "disclosure",
        "footer",
    ),
    "report.tex.j2": ("preamble", "table", "changed", "agreement", "designs", "disclosure", "end"),
    "claim.md.j2": ("summary", "facts", "prompt"),
    **{
        f"disclosure{suffix}": ("opening", "results", "flags", "closing")
        for suffix in (".md.j2", ".html.j2", ".tex.j2")
    },
    **{
        f"designs{suffix}": (
            "replicates",
            "label_bias",
            "comparisons",
            "best_models",
            "over_tasks",
            "contamination",
        )
        for suffix in (".md.j2", ".html.j2", ".tex.j2")
    },
}
RENDERERS: dict[str, Callable[..., str]] = {
    ".md.j2": partial(markdown, words=10**9),
    ".html.j2": html,
    ".tex.j2": latex,
}
HOSTILE = "a|b <img> @someone `x` [y](z) #12"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def extend(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    source = [f'{{% extends "maxrandom/{name}" %}}', *lines]
    path.write_text("\n".join(source), encoding="utf-8")
    return path


def without(text: str, part: str) -> str:
    assert part in text
    return text.replace(part, "")


def without_hashes(text: str) -> str:
    """Leave out what a page allows its own style by, whatever that says."""
    return re.sub(r"'sha256-[^']*'", "'sha256'", text)


@pytest.mark.parametrize("name", BLOCKS)
def test_each_block_can_be_overridden_alone(folder: Path, name: str) -> None:
    single = name.startswith("claim.")
    record = run(claim(best=41))
    if not single:
        record = designed(claim(best=41), *several(), recorded(published=None))
    render = next(of for suffix, of in RENDERERS.items() if name.endswith(suffix))
    if name == "disclosure.md.j2":
        render = disclosure
    ours = without_hashes(render(record))
    for block in BLOCKS[name]:
        extend(folder, name, f"{{% block {block} %}}OURS[{{{{ super() }}}}]OURS{{% endblock %}}")
        text = without_hashes(render(record, folder))
        before, inside, after = re.split(r"OURS\[|\]OURS", text)
        assert before + inside + after == ours, block
        extend(folder, name, f"{{% block {block} %}}mine{{% endblock %}}")
        assert without_hashes(render(record, folder)) == f"{before}mine{after}", block


def test_a_partial_of_the_user_is_used_within_our_report(folder: Path) -> None:
    (folder / "headline.md.j2").write_text("{{ run|tally }} tonight\n")
    assert markdown(run(claim()), folder).startswith("1 of 1 claim passes tonight\n")


def test_a_whole_report_can_be_written_anew(folder: Path) -> None:
    (folder / "report.md.j2").write_text("{{ claims[0].n }} and {{ claims[0].t }}")
    assert markdown(run(claim()), folder) == "60 and 20"


@pytest.mark.parametrize(
    "expression",
    [
        "{{ claim.task }}",
        "{{ claim.task|e }}",
        "{{ claim.task|escape }}",
        "{{ claim.task|forceescape }}",
        "{{ claim.task|upper }}",
        '{{ "task " ~ claim.task }}',
        "{{ claim.task ~ (claim.model|code) }}",
        '{{ [claim.task, claim.model|code]|join(", ") }}',
        "{{ [claim.task] }}",
        "{{ {claim.task: claim.task} }}",
        '{{ "%s"|format(claim.task) }}',
        "{% set name %}{{ claim.task }}{% endset %}{{ name }}",
        "{% macro show(x) %}{{ x }}{% endmacro %}{{ show(claim.task) }}",
        "{% autoescape false %}{{ claim.task }}{% endautoescape %}",
        "{% filter trim %}{{ claim.task }}{% endfilter %}",
    ],
)
def test_a_template_that_forgets_a_filter_is_still_safe(folder: Path, expression: str) -> None:
    source = f"| a |\n|---|\n{{% for claim in claims %}}| {expression} |\n{{% endfor %}}"
    (folder / "report.md.j2").write_text(source)
    page = read(markdown(run(claim(task=HOSTILE)), folder))
    # What stands between backticks may be code, in which nothing means anything.
    shown = [tag for tag in page.tags if tag != "code"]
    assert shown == ["table", "thead", "tr", "th", "tbody", "tr", "td"]
    assert not [text for text in page.prose if re.search(r"@\w|#\d", text)]


def failure(folder: Path) -> str:
    with pytest.raises(ReportError) as caught:
        markdown(run(claim(best=41)), folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_syntax_error_names_file_and_line(folder: Path) -> None:
    path = folder / "claim.md.j2"
    path.write_text("fine\n\n{% if claim %}\n{{ claim.n }\n{% endif %}")
    assert failure(folder) == f"{path}:4: unexpected '}}'"


@pytest.mark.parametrize("name", ["report.md.j2", "headline.md.j2"])
def test_an_unknown_variable_names_file_and_line(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text("fine\n{{ clams|length }}\n")
    assert failure(folder) == (
        f"{path}:2: 'clams' is undefined; templates/README.md lists what a template can use"
    )


def test_an_unknown_key_of_a_claim_names_file_and_line(folder: Path) -> None:
    path = extend(
        folder, "claim.md.j2", "{% block facts %}", "{{ claim.best_corect }}", "{% endblock %}"
    )
    assert failure(folder).startswith(f"{path}:3: ")
    assert "has no attribute 'best_corect'" in failure(folder)


def test_an_unknown_filter_names_file_and_line(folder: Path) -> None:
    path = folder / "report.md.j2"
    path.write_text("{{ claims[0].p_max|per_cent }}")
    assert failure(folder) == f"{path}:1: No filter named 'per_cent'."


def test_an_unknown_block_is_refused_with_the_nearest_name(folder: Path) -> None:
    path = extend(folder, "report.md.j2", "", "{% block headlines %}x{% endblock %}")
    assert failure(folder) == (
        f"{path}:3: maxrandom/report.md.j2 has no block 'headlines'; its blocks are agreement, "
        "attention, changed, designs, details, disclosure, flags, footer, header, headline, page, "
        "table; "
        "did you mean headline instead of headlines?"
    )


def test_a_new_block_within_a_known_one_is_fine(folder: Path) -> None:
    inner = "{% block headline %}{% block mine %}mine{% endblock %}{% endblock %}"
    extend(folder, "report.md.j2", inner)
    assert markdown(run(claim()), folder).startswith("mine")


def test_blocks_are_looked_up_through_a_template_in_between(folder: Path) -> None:
    extend(folder, "base.md.j2".replace("base", "report"))
    (folder / "middle.md.j2").write_text(
        '{% extends "maxrandom/report.md.j2" %}'
        "{% block header %}{% block badge %}old{% endblock %}{% endblock %}"
    )
    (folder / "report.md.j2").write_text(
        '{% extends "middle.md.j2" %}{% block badge %}new{% endblock %}'
    )
    assert markdown(run(claim()), folder).startswith("new")


def test_a_template_that_extends_itself_is_told_the_full_name(folder: Path) -> None:
    path = folder / "report.md.j2"
    path.write_text('\n{% extends "report.md.j2" %}')
    assert failure(folder) == (
        f"{path}:2: the template extends itself; "
        'to extend ours, write {% extends "maxrandom/report.md.j2" %}'
    )


@pytest.mark.parametrize("verb", ["extends", "include"])
def test_a_template_that_is_not_there_is_named(folder: Path, verb: str) -> None:
    (folder / "report.md.j2").write_text(f'{{% {verb} "maxrandom/reprot.md.j2" %}}')
    assert "there is no template 'maxrandom/reprot.md.j2'" in failure(folder)


@pytest.mark.parametrize(
    "expression",
    [
        "{{ claims.__class__.__mro__ }}",
        "{{ claims.append(1) }}",
        "{{ claims[0].asserted.update(p_max=1) }}",
        "{{ outcomes.clear() }}",
    ],
)
def test_a_template_can_neither_look_inside_nor_change_anything(
    folder: Path, expression: str
) -> None:
    path = folder / "report.md.j2"
    path.write_text(f"\n{expression}")
    assert failure(folder).startswith(f"{path}:2: ")
    assert "a template can only read the records" in failure(folder)


def test_an_error_of_a_template_names_its_kind(folder: Path) -> None:
    path = folder / "report.md.j2"
    path.write_text("{{ 1 // 0 }}")
    assert failure(folder).startswith(f"{path}:1: ZeroDivisionError: ")


def test_a_template_that_is_not_text_is_refused(folder: Path) -> None:
    (folder / "report.md.j2").write_bytes(b"\xff\xfe")
    assert failure(folder).startswith(f"{folder}: a template is not UTF-8 text")


def test_a_missing_folder_is_an_error(folder: Path) -> None:
    missing = folder / "none"
    assert failure(missing) == (
        f"{missing}: no such folder of templates; see --maxrandom-templates"
    )


def test_a_folder_without_any_of_our_templates_is_an_error(folder: Path) -> None:
    (folder / "claims.md.j2").write_text("x")
    message = failure(folder)
    start = f"{folder}: no template here is used by the Markdown report, which looks for claim.j2, "
    assert message.startswith(start)
    assert message.endswith("; did you mean claim.md.j2 instead of claims.md.j2?")
    looked_for = {path.name for path in templates_folder().glob("*.j2")}
    for name in looked_for:
        assert (name in message) == (".html." not in name and ".tex." not in name)


def test_a_folder_for_another_language_is_an_error(folder: Path) -> None:
    extend(folder, "report.md.j2")
    with pytest.raises(ReportError, match=r"used by the HTML report, which looks for claim\.j2, "):
        html(run(claim()), folder)


@pytest.mark.parametrize("render", [html, latex])
def test_sentences_of_the_user_are_used_in_every_language(
    folder: Path, render: Callable[..., str]
) -> None:
    source = (templates_folder() / "sentences.j2").read_text(encoding="utf-8")
    (folder / "sentences.j2").write_text(source.replace("The best of", "Our best of"))
    assert "Our best of t = 20" in render(run(claim()), folder)


def test_the_readme_of_the_templates_names_every_template_block_and_filter() -> None:
    text = (templates_folder() / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+)", text))
    templates = {path.name for path in templates_folder().glob("*.j2")}
    blocks = {block for blocks in BLOCKS.values() for block in blocks}
    dialects = (MARKDOWN, HTML, LATEX)
    filters = {name for each in dialects for name in (*each.TEXTS, *each.PARTS, *each.FRAMES)}
    made = environment()
    told = set(made.globals) - set(type(made)().globals)
    assert (templates | blocks | filters | told) - named == set()


def test_the_example_of_the_readme_works(folder: Path) -> None:
    text = (templates_folder() / "README.md").read_text(encoding="utf-8")
    whole, part = re.findall(r"```jinja\n(.*?)```", text, re.DOTALL)
    (folder / "report.md.j2").write_text(whole)
    (folder / "headline.md.j2").write_text(part)
    report = markdown(run(claim()), folder)
    assert report.startswith("## Nightly few-shot claims\n\n1 of 1 claim passes. `weather`: n = 60")
    assert report.rstrip().endswith("Questions go to the evaluation team.")

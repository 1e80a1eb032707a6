"""What is left of a text that was cut still reads, and fits."""

from __future__ import annotations

import cmarkgfm
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.ci.actions import cut
from pytest_maxrandom.reports.rendering import markdown
from tests.unit.reports.samples import claim, run

NOTICE = "*cut here*"

REPORT = markdown(
    run(
        *(
            claim(best=best, task=f"täsk {best}", id=f"eval_suites/s.yaml::täsk {best}[m]")
            for best in (31, 45, 52)
        )
    )
)


def test_a_text_that_fits_is_left_alone() -> None:
    size = len(REPORT.encode())
    assert cut(REPORT, size, NOTICE) == REPORT
    assert cut(REPORT, size - 1, NOTICE) != REPORT


@pytest.mark.parametrize("limit", range(20, len(REPORT.encode()), 97))
def test_a_report_is_cut_between_rows_and_between_claims(limit: int) -> None:
    text = cut(REPORT, limit, NOTICE)
    assert len(text.encode()) <= limit
    kept, _, _ = text.partition(f"\n{NOTICE}\n")
    assert REPORT.startswith(kept)
    assert kept == "" or kept.endswith("\n")
    assert kept.count("<details>") == kept.count("</details>")
    assert kept.count("```") % 2 == 0
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    assert "<p><em>cut here</em></p>" in page


def test_no_line_more_could_have_been_kept() -> None:
    rows = "".join(f"| {number} | ä |\n" for number in range(1000))
    text = cut(rows, 5000, NOTICE)
    left = 5000 - len(text.encode())
    assert 0 <= left < len("| 999 | ä |\n".encode())


@given(
    st.text(alphabet="`~a<>/ \n", max_size=80).map(lambda text: f"{text}\n"), st.integers(12, 80)
)
def test_any_text_fits_and_leaves_no_code_block_open(text: str, limit: int) -> None:
    found = cut(text, limit, "end")
    assert len(found.encode()) <= limit
    if found != text:
        page = cmarkgfm.github_flavored_markdown_to_html(found.replace("<", "&lt;"))
        assert page.rstrip().endswith("end</p>")

"""Rows serve every request once, and batches keep to their limit."""

from __future__ import annotations

from hypothesis import given, strategies as st

from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.models.trie import batches, rows

REQUESTS = st.lists(
    st.lists(st.integers(0, 2), min_size=2, max_size=7).map(lambda ids: Request(tuple(ids), 1)),
    max_size=30,
)


@given(REQUESTS)
def test_every_request_is_served_by_one_row_that_holds_all_its_tokens_but_the_last(
    requests: list[Request],
) -> None:
    found = rows(requests)
    served = [(index, row.ids) for row in found for index in row.requests]
    assert sorted(served) == [(index, request.ids[:-1]) for index, request in enumerate(requests)]


@given(REQUESTS)
def test_no_sequence_is_put_through_the_model_twice(requests: list[Request]) -> None:
    found = [row.ids for row in rows(requests)]
    assert len(set(found)) == len(found)


@given(REQUESTS, st.integers(1, 40))
def test_batches_hold_all_rows_in_order_within_the_limit(
    requests: list[Request], limit: int
) -> None:
    found = rows(requests)
    cut = list(batches(found, limit))
    assert [row for batch in cut for row in batch] == found
    for batch in cut:
        padded = len(batch) * max(len(row.ids) for row in batch)
        assert padded <= limit or len(batch) == 1


@given(REQUESTS, st.integers(1, 40))
def test_a_batch_ends_only_where_one_more_row_would_break_the_limit(
    requests: list[Request], limit: int
) -> None:
    cut = list(batches(rows(requests), limit))
    for batch in cut[:-1]:
        assert (len(batch) + 1) * len(batch[0].ids) > limit

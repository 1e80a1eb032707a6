"""A plan feeds every token that scoring needs, once where the budget allows, and nothing else."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.models import trie
from pytest_maxrandom.models.requests import Request, common_length
from pytest_maxrandom.models.trie import batches, rows


@st.composite
def _requests(draw: st.DrawFn) -> list[Request]:
    """Return texts over few tokens, so that many begin alike, with any span."""
    head = draw(st.lists(st.integers(0, 2), max_size=4))
    found = []
    for rest in draw(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=7), min_size=1)):
        ids = (*head, *rest)
        found.append(Request(ids, draw(st.integers(1, len(ids) - 1))))
    return found


REQUESTS = _requests()


def _inner_nodes(requests: list[Request]) -> set[tuple[int, ...]]:
    """Return the distinct beginnings of all texts without their last token."""
    return {request.ids[:end] for request in requests for end in range(1, len(request.ids))}


def _needed(requests: list[Request]) -> Counter[tuple[int, tuple[int, ...], int]]:
    """Return every scored token: its request, all tokens before it, and itself."""
    return Counter(
        (index, request.ids[:place], request.ids[place])
        for index, request in enumerate(requests)
        for place in range(request.start, len(request.ids))
    )


def _seen(forest: trie.Forest, node: int) -> tuple[int, ...]:
    """Return the tokens that a node sees, by the formula that the mask is made from."""
    return tuple(
        int(forest.tokens[other])
        for other in range(len(forest.tokens))
        if other <= node < forest.ends[other]
    )


@given(REQUESTS)
def test_the_nodes_are_the_distinct_beginnings_of_all_texts(requests: list[Request]) -> None:
    assert trie.build(requests).nodes == len(_inner_nodes(requests))


@given(REQUESTS)
def test_nothing_is_predicted_from_within_the_prefix_but_its_end(requests: list[Request]) -> None:
    prefix = trie.build(requests).prefix
    assert all(request.ids[: len(prefix)] == prefix for request in requests)
    assert all(len(prefix) < request.start for request in requests)
    longer = len(prefix) + 1
    assert (
        min(request.start for request in requests) == longer
        or len({request.ids[:longer] for request in requests}) > 1
        or any(len(request.ids) == longer + 1 for request in requests)
    )


@given(REQUESTS, st.integers(1, 40), st.booleans())
def test_every_scored_token_is_predicted_once_and_from_all_tokens_before_it(
    requests: list[Request], max_tokens: int, whole: bool
) -> None:
    planned = trie.build(requests)
    planned = planned.whole() if whole else planned
    predicted: Counter[tuple[int, tuple[int, ...], int]] = Counter()
    for paths in trie.cut(planned.paths, max_tokens):
        forest = trie.plant(paths, requests, len(planned.prefix))
        picks = forest.picks
        for node, target, owner in zip(picks.columns, picks.targets, picks.owners, strict=True):
            before = (*planned.prefix, *_seen(forest, node))
            assert len(before) - 1 == forest.positions[node]
            predicted[owner, before, target] += 1
    assert predicted == _needed(requests)


@given(REQUESTS, st.booleans())
def test_a_budget_that_holds_everything_forwards_every_node_once(
    requests: list[Request], whole: bool
) -> None:
    planned = trie.build(requests)
    assert planned.whole().nodes == planned.nodes
    planned = planned.whole() if whole else planned
    (paths,) = trie.cut(planned.paths, planned.nodes)
    forest = trie.plant(paths, requests, len(planned.prefix))
    assert len(planned.prefix) + len(forest.tokens) == planned.nodes


@given(REQUESTS, st.integers(1, 40))
def test_bins_keep_to_the_budget_wherever_one_path_does(
    requests: list[Request], max_tokens: int
) -> None:
    planned = trie.build(requests)
    bins = trie.cut(planned.paths, max_tokens)
    assert list(itertools.chain.from_iterable(bins)) == list(planned.paths)
    for paths in bins:
        size = len(trie.plant(paths, requests, len(planned.prefix)).tokens)
        assert size <= max_tokens or len(paths) == 1


@given(REQUESTS, st.integers(1, 30))
def test_no_other_way_to_cut_costs_less(requests: list[Request], max_tokens: int) -> None:
    planned = trie.build(requests[:8])
    paths = planned.paths

    def cost(bins: list[tuple[trie.Path, ...]]) -> float:
        sizes = [len(trie.plant(part, requests, len(planned.prefix)).tokens) for part in bins]
        if any(size > max_tokens and len(part) > 1 for size, part in zip(sizes, bins, strict=True)):
            return float("inf")
        return sum(sizes) + trie._FORWARD * len(sizes)

    ways = []
    for chosen in itertools.product((False, True), repeat=len(paths) - 1):
        cuts = [0, *(place + 1 for place, here in enumerate(chosen) if here), len(paths)]
        ways.append(cost([tuple(paths[a:b]) for a, b in itertools.pairwise(cuts)]))
    assert cost([tuple(part) for part in trie.cut(paths, max_tokens)]) == min(ways)


def test_examples_are_kept_whole_where_they_fit() -> None:
    requests = [
        Request((9, example, 5, 6, 7, answer, 0), 5) for example in (1, 2) for answer in (3, 4)
    ]
    planned = trie.build(requests)
    bins = trie.cut(planned.paths, 9)
    assert [{path.ids[0] for path in paths} for paths in bins] == [{1}, {2}]


@given(REQUESTS)
def test_families_hold_every_path_once_after_a_context_that_all_share(
    requests: list[Request],
) -> None:
    paths = trie.build(requests).paths
    families = trie.families(paths)
    assert [path for family in families for path in family.paths] == list(paths)
    for family in families:
        assert family.context >= 1
        assert len({path.ids[: family.context] for path in family.paths}) == 1


@given(REQUESTS)
def test_no_other_two_levels_forward_less(requests: list[Request]) -> None:
    paths = trie.build(requests[:8]).paths

    def cost(context: int, members: tuple[trie.Path, ...]) -> int:
        return context + sum(len(path.ids) - context for path in members)

    best = float("inf")
    for chosen in itertools.product((False, True), repeat=len(paths) - 1):
        cuts = [0, *(place + 1 for place, here in enumerate(chosen) if here), len(paths)]
        total: float = 0
        for a, b in itertools.pairwise(cuts):
            common = min(common_length(paths[a].ids, path.ids) for path in paths[a:b])
            total += cost(common, paths[a:b]) if common else float("inf")
        best = min(best, total)
    assert sum(cost(family.context, family.paths) for family in trie.families(paths)) == best


LENGTHS = st.lists(st.integers(1, 12), max_size=9).map(lambda found: sorted(found, reverse=True))


@given(LENGTHS, st.integers(1, 40))
def test_no_other_batches_of_rows_cost_less(lengths: list[int], max_tokens: int) -> None:
    def cost(batches: list[range]) -> float:
        sizes = [len(batch) * lengths[batch.start] for batch in batches]
        if any(s > max_tokens and len(b) > 1 for s, b in zip(sizes, batches, strict=True)):
            return float("inf")
        return sum(sizes) + 16 * len(sizes)

    found = trie.level(lengths, max_tokens)
    assert [index for batch in found for index in batch] == list(range(len(lengths)))
    ways = [0.0] if not lengths else []
    for chosen in itertools.product((False, True), repeat=max(0, len(lengths) - 1)):
        cuts = [0, *(place + 1 for place, here in enumerate(chosen) if here), len(lengths)]
        ways.append(cost([range(a, b) for a, b in itertools.pairwise(cuts) if a < b]))
    assert cost(found) == min(ways)


@given(st.lists(st.integers(0, 1), max_size=9), st.lists(st.integers(0, 1), max_size=9))
def test_the_common_length_is_that_of_the_longest_common_beginning(
    one: list[int], other: list[int]
) -> None:
    shorter = min(len(one), len(other))
    expected = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    assert common_length(one, other) == expected


@pytest.mark.parametrize("count", [1, 7])
def test_equal_texts_are_one_path(count: int) -> None:
    planned = trie.build([Request((1, 2, 3, 4), 2)] * count)
    assert planned.nodes == 3
    assert len(planned.paths) == 1
    assert planned.paths[0].requests == tuple(range(count))


TEXTS = st.lists(
    st.lists(st.integers(0, 2), min_size=2, max_size=7).map(lambda ids: Request(tuple(ids), 1)),
    max_size=30,
)


@given(TEXTS)
def test_every_request_is_served_by_one_row_that_holds_all_its_tokens_but_the_last(
    requests: list[Request],
) -> None:
    found = rows(requests)
    served = [(index, row.ids) for row in found for index in row.requests]
    assert sorted(served) == [(index, request.ids[:-1]) for index, request in enumerate(requests)]


@given(TEXTS)
def test_no_sequence_is_put_through_the_model_twice(requests: list[Request]) -> None:
    found = [row.ids for row in rows(requests)]
    assert len(set(found)) == len(found)


@given(TEXTS, st.integers(1, 40))
def test_batches_hold_all_rows_in_order_within_the_limit(
    requests: list[Request], limit: int
) -> None:
    found = rows(requests)
    cut = list(batches(found, limit))
    assert [row for batch in cut for row in batch] == found
    for batch in cut:
        padded = len(batch) * max(len(row.ids) for row in batch)
        assert padded <= limit or len(batch) == 1


@given(TEXTS, st.integers(1, 40))
def test_a_batch_ends_only_where_one_more_row_would_break_the_limit(
    requests: list[Request], limit: int
) -> None:
    cut = list(batches(rows(requests), limit))
    for batch in cut[:-1]:
        assert (len(batch) + 1) * len(batch[0].ids) > limit

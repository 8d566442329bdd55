"""Labels are dealt evenly to within one."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.design.dealing import deal

items = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=120)


@settings(max_examples=150, deadline=None)
@given(items=items, labels=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_every_class_meets_every_label_equally_often_to_within_one(items, labels, seed):
    left = [item[0] for item in items]
    right = [(item[1], item[2]) for item in items]
    dealt = deal(left, right, labels, np.random.default_rng(seed))
    assert set(dealt) <= set(range(labels))
    for key in set(left):
        counts = Counter(label for label, own in zip(dealt, left, strict=True) if own == key)
        assert max(counts.values()) - min(counts[label] for label in range(labels)) <= 1
    for key in set(right):
        counts = Counter(label for label, own in zip(dealt, right, strict=True) if own == key)
        most = max(counts.values()) - min(counts[label] for label in range(labels))
        # What a finest class has left over may be spread over two rounds of the coarser one.
        assert most <= 2
        assert most == 0 or sum(counts.values()) % labels
    total = Counter(dealt)
    whole = {item[1] for item in items}
    if all(sum(item[1] == key for item in items) % labels == 0 for key in whole):
        assert max(total.values()) == min(total[label] for label in range(labels))


def test_the_same_seed_deals_alike_and_another_otherwise():
    left, right = [i % 6 for i in range(60)], [(i // 10,) for i in range(60)]
    dealt = [deal(left, right, 5, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert dealt[0] == dealt[1] != dealt[2]

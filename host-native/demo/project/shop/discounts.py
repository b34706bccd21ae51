"""Volume discounts: the more copies of one title, the better the rate."""

import bisect

# (copies, percent): the copies a tier starts at and what it takes off.
TIERS = [(10, 5), (25, 10), (100, 15)]

_STARTS = [copies for copies, _ in TIERS]
_RATES = [0] + [percent for _, percent in TIERS]


def volume_percent(copies):
    """The percentage off for so many copies of one title."""
    if copies < 1:
        raise ValueError(f"an order needs at least one copy, not {copies}")
    return _RATES[bisect.bisect_left(_STARTS, copies)]

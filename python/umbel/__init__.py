"""Have we seen this before? Set membership, counting and near match at any scale, from a few bits a key.

>>> import umbel
>>> seen = umbel.Bloom(1_000_000, 0.01)  # n keys, one false positive in a hundred
>>> seen.update(["tt0073537", "tt0073604"])
2
>>> "tt0073537" in seen
True

| you have | take |
|---|---|
| many keys, and ask "is this one of them?" | Bloom |
| the same, one set for each group | Groups |
| n and p, and wonder what it will cost | size |
| a stream of keys, and ask "how often?" | CountMin; Conservative, if it is read in one order and never merged |
| integers, and ask for sums over ranges or for quantiles | Ranges |
| a stream, and want its most frequent keys | Heavy |
| a sketch and heavy hitters of one stream; counts by group | Counts, CountGroups |
| numbers, and ask whether one of them is near | Near |
| texts, sets, vectors or bit strings, and ask whether something like it is known | Similar |
| a file that umbel wrote, whatever it holds | open |
"""

from umbel._umbel import (
    Bloom,
    Conservative,
    CountGroups,
    CountMin,
    Counts,
    Groups,
    Heavy,
    HeavyKey,
    Near,
    Ranges,
    Similar,
    Sizing,
    from_bytes,
    open,
    size,
)

__all__ = [
    "Bloom",
    "Conservative",
    "CountGroups",
    "CountMin",
    "Counts",
    "Groups",
    "Heavy",
    "HeavyKey",
    "Near",
    "Ranges",
    "Similar",
    "Sizing",
    "from_bytes",
    "open",
    "size",
]

"""nearest.py - the exact nearest rows of each query."""
import numpy as np

QUERIES_AT_ONCE = 100
SPARE = 3  # candidates a wanted row, so that rounding in float32 loses none


def order(rows, query, metric):
    """The order of rows for one query, best first, in float64."""
    rows, query = rows.astype(np.float64), query.astype(np.float64)
    scores = np.einsum("ij,j->i", rows, query)
    squares = np.einsum("ij,ij->i", rows, rows)
    if metric == "cosine":
        scores /= np.sqrt(squares)
    elif metric == "l2":
        scores -= squares / 2
    return np.argsort(-scores, kind="stable")


def nearest(base, queries, metric, k):
    """Ids of the k nearest rows of each query, best first, equal ones by id.

    float32 products find SPARE * k candidates, float64 ones order them.
    """
    squares = np.einsum("ij,ij->i", base, base)
    scale = 1 / np.sqrt(squares) if metric == "cosine" else np.float32(1)
    offset = squares / 2 if metric == "l2" else np.float32(0)
    spare = min(SPARE * k, len(base))
    found = []
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        block = queries[first:first + QUERIES_AT_ONCE]
        costs = offset - block @ base.T * scale
        pool = np.sort(np.argpartition(costs, spare - 1, axis=1)[:, :spare], axis=1)
        found += [ids[order(base[ids], query, metric)[:k]]
                  for query, ids in zip(block, pool, strict=True)]
    return np.array(found)

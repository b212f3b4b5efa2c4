"""vecs.py - fvecs and ivecs files: a row is its dimension and its values, 4 bytes each."""
import os

import numpy as np


def shape(path):
    """Rows and dimension."""
    dim = int(np.fromfile(path, dtype="<i4", count=1)[0])
    return os.path.getsize(path) // (4 * (dim + 1)), dim


def blocks(path, dtype="<f4", count=5000):
    """Yields (first row, rows), `count` rows at a time."""
    rows, dim = shape(path)
    with open(path, "rb") as file:
        for first in range(0, rows, count):
            raw = np.fromfile(file, dtype=dtype, count=count * (dim + 1))
            yield first, np.ascontiguousarray(raw.reshape(-1, dim + 1)[:, 1:])


def read(path, dtype="<f4"):
    """The whole file as one array."""
    return next(blocks(path, dtype, shape(path)[0]))[1]


def write(path, rows, dtype="<f4", count=5000):
    """Writes an array, `count` rows at a time."""
    with open(path, "wb") as file:
        for first in range(0, len(rows), count):
            block = np.ascontiguousarray(rows[first:first + count], dtype=dtype)
            raw = np.empty((len(block), block.shape[1] + 1), "<i4")
            raw[:, 0] = block.shape[1]
            raw[:, 1:] = block.view("<i4")
            raw.tofile(file)

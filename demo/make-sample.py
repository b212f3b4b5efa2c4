#!/usr/bin/env python3
"""make-sample.py - picks the demonstration's rows out of the full set of glosses and vectors.

    make-sample.py FOLDER    needs numpy; writes glosses.npy, glosses.txt, keys.txt beside itself

FOLDER holds base.fvecs (unit vectors, fp32) and base.txt (line i, "lemma, lemma: gloss", belongs to
vector i). Kept are the rows of a few everyday words, the rows nearest to each of them, so that a
search among so few has something to find, and a sample with a fixed seed of all the others. The
words come first, so that each is the key of its own row. Vectors are rounded to half precision.
"""
import pathlib
import sys

import numpy as np

ROWS = 4800
NEIGHBOURS = 60
SEED = 20120
WORDS = """
    anger apple astronomy bicycle bird bread bridge castle chess coffee computer cotton courage
    dance desert disease doctor dog dream earthquake fear fever flower friendship glacier gold
    guitar harbor honey horse hospital hurricane jealousy kitchen language laughter lawyer
    library lion mathematics medicine money moon mountain music ocean painting piano planet
    poetry prison rain rose school ship silk sleep soldier sugar teacher thunder tiger tree
    violin volcano war whale winter wolf
""".split()


def read_vectors(path):
    raw = np.fromfile(path, dtype="<f4")
    dim = int(raw[:1].view("<i4")[0])
    return raw.reshape(-1, dim + 1)[:, 1:]


def lemmas_of(line):
    return [lemma.strip() for lemma in line.split(": ", 1)[0].split(",")]


def densest(vectors, rows):
    """Of several senses of a word, the one whose ten nearest rows are nearest: the everyday one."""
    cosines = np.sort(vectors[rows] @ vectors.T, axis=1)[:, -11:-1]
    return rows[int(cosines.mean(axis=1).argmax())]


def seed_rows(vectors, lines):
    """One row a word, among those whose first lemma is the word."""
    senses = {word: [] for word in WORDS}
    for row, line in enumerate(lines):
        senses.get(lemmas_of(line)[0], []).append(row)
    return [densest(vectors, rows) for rows in senses.values() if rows]


def choose(vectors, lines):
    seeds = seed_rows(vectors, lines)
    nearest = np.argpartition(-(vectors[seeds] @ vectors.T), NEIGHBOURS, axis=1)
    near = set(nearest[:, : NEIGHBOURS + 1].ravel().tolist()) - set(seeds)
    others = np.array([row for row in range(len(lines)) if row not in near | set(seeds)])
    fill = np.random.default_rng(SEED).permutation(others)[: ROWS - len(near) - len(seeds)]
    return seeds + sorted(near | set(fill.tolist()))


def unique_keys(lines):
    """The first lemma; its second row is called "lemma 2", and so on."""
    seen, keys = {}, []
    for line in lines:
        lemma = lemmas_of(line)[0]
        seen[lemma] = seen.get(lemma, 0) + 1
        keys.append(lemma if seen[lemma] == 1 else f"{lemma} {seen[lemma]}")
    assert len(set(keys)) == len(keys)
    return keys


def main():
    source = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).parent
    vectors = read_vectors(source / "base.fvecs")
    lines = (source / "base.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(vectors)
    rows = choose(vectors, lines)
    kept = [lines[row] for row in rows]
    np.save(here / "glosses.npy", vectors[rows].astype("<f2"))
    (here / "glosses.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (here / "keys.txt").write_text("\n".join(unique_keys(kept)) + "\n", encoding="utf-8")
    print(f"{len(rows)} rows, the first of them: {' '.join(unique_keys(kept)[:80])}")


main()

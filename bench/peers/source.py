"""source.py - the files that data sets are made from, read when one asks for them."""
import json

import numpy as np

import vecs

WORDS_TAKEN = 201000


class Source:
    """The given files, read when a shape asks for them."""

    def __init__(self, options):
        self.options, self.rows, self.word_rows = options, options.rows, None

    def vectors(self):
        return vecs.read(self.options.base)[:self.rows], vecs.read(self.options.query)

    def shape(self):
        rows, dim = vecs.shape(self.options.base)
        return min(rows, self.rows or rows), dim

    def words(self):
        if self.word_rows is None:
            with open(self.options.words, encoding="utf-8") as file:
                model = json.load(file)
            taken = model["words"][:WORDS_TAKEN]
            vectors, dim = model["vectors"], model["dimensions"]
            self.word_rows = np.array([vectors[word][:dim] for word in taken], dtype=np.float32)
        return self.word_rows

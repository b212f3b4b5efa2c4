#!/usr/bin/env python3
"""run_usearch.py - usearch: connectivity 32, expansion_add 200, rows as f32, f16 or i8.

    run_usearch.py build  --config f16 --index FILE --base F [--metric cosine]
    run_usearch.py search --config f16 --index FILE --query F --truth F [--effort 200]
"""
import time

import numpy as np
import usearch
from usearch.index import Index

import common
import vecs

METRICS = {"cosine": "cos", "ip": "ip", "l2": "l2sq"}


class Usearch(common.Peer):
    configs = ["f32", "f16", "i8"]

    def __init__(self, options):
        super().__init__(options)
        self.index = Index(ndim=self.dim, metric=METRICS[options.metric], dtype=options.config,
                           connectivity=32, expansion_add=200, expansion_search=options.effort)

    def build(self):
        start = time.perf_counter()
        for first, rows in vecs.blocks(self.options.base):
            keys = np.arange(first, first + len(rows), dtype=np.uint64)
            self.index.add(keys, rows, threads=self.options.threads)
        added = time.perf_counter()
        self.index.save(self.options.index)
        return {"optimize_s": round(added - start, 3)}

    def open(self):
        self.index.load(self.options.index)
        self.index.expansion_search = self.options.effort

    def search(self, query):
        return self.index.search(query, self.options.k, threads=1).keys


common.main(Usearch, "usearch", usearch.__version__)

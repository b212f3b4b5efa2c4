#!/usr/bin/env python3
"""run_hnswlib.py - hnswlib: M 32, ef_construction 200, fp32.

    run_hnswlib.py build  --config fp32 --index FILE --base F [--metric cosine]
    run_hnswlib.py search --config fp32 --index FILE --query F --truth F [--effort 200]
"""
import importlib.metadata
import time

import hnswlib
import numpy as np

import common
import vecs


class Hnswlib(common.Peer):
    configs = ["fp32"]

    def __init__(self, options):
        super().__init__(options)
        self.index = hnswlib.Index(options.metric, self.dim)

    def build(self):
        start = time.perf_counter()
        self.index.init_index(vecs.shape(self.options.base)[0], M=32, ef_construction=200)
        self.index.set_num_threads(self.options.threads)
        for first, rows in vecs.blocks(self.options.base):
            self.index.add_items(rows, np.arange(first, first + len(rows)))
        added = time.perf_counter()
        self.index.save_index(self.options.index)
        return {"optimize_s": round(added - start, 3)}

    def open(self):
        self.index.load_index(self.options.index)
        self.index.set_ef(self.options.effort)

    def search(self, query):
        return self.index.knn_query(query, k=self.options.k, num_threads=1)[0][0]


common.main(Hnswlib, "hnswlib", importlib.metadata.version("hnswlib"))

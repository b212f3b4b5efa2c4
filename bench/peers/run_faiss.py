#!/usr/bin/env python3
"""run_faiss.py - FAISS: HNSW over fp32, and IVF with fast-scan product codes or RaBitQ.

    run_faiss.py build  --config ivf-4bit --index FILE --base F [--metric cosine]
    run_faiss.py search --config ivf-4bit --index FILE --query F --truth F [--effort 64]

    hnsw        HNSW32, efConstruction 200; the effort is efSearch
    ivf-4bit    IVF<n>,PQ<dim>x4fs: 4 bits a dimension; the effort is nprobe, as below
    ivf-2bit    IVF<n>,PQ<dim/2>x4fs: 2 bits a dimension
    ivf-8bit    IVF<n>,SQ8
    ivf-1bit    IVF<n>,RaBitQfs
n is the square root of the number of rows: IVF316 for 100,000. Training takes 20,000 rows from all
over the file. For cosine the vectors are normalized and compared by inner product.
"""
import math
import time

import faiss
import numpy as np

import common
import vecs

FACTORY = {"hnsw": "HNSW32", "ivf-4bit": "IVF{n},PQ{dim}x4fs", "ivf-2bit": "IVF{n},PQ{half}x4fs",
           "ivf-8bit": "IVF{n},SQ8", "ivf-1bit": "IVF{n},RaBitQfs"}
METRICS = {"cosine": faiss.METRIC_INNER_PRODUCT, "ip": faiss.METRIC_INNER_PRODUCT,
           "l2": faiss.METRIC_L2}
TRAINING_ROWS = 20000


class Faiss(common.Peer):
    configs = list(FACTORY)
    index = None

    def scaled(self, rows):
        """The rows as they are indexed and searched; changed in place."""
        if self.options.metric == "cosine":
            faiss.normalize_L2(rows)
        return rows

    def train(self, index, rows):
        step = max(1, rows // TRAINING_ROWS)
        sample = [block[::step] for _, block in vecs.blocks(self.options.base)]
        index.train(self.scaled(np.concatenate(sample)))

    def build(self):
        faiss.omp_set_num_threads(self.options.threads)
        rows = vecs.shape(self.options.base)[0]
        factory = FACTORY[self.config].format(n=math.isqrt(rows), dim=self.dim, half=self.dim // 2)
        index = faiss.index_factory(self.dim, factory, METRICS[self.options.metric])
        if self.config == "hnsw":
            index.hnsw.efConstruction = 200
        start = time.perf_counter()
        if not index.is_trained:
            self.train(index, rows)
        trained = time.perf_counter()
        for _, block in vecs.blocks(self.options.base):
            index.add(self.scaled(block))
        added = time.perf_counter()
        faiss.write_index(index, self.options.index)
        return {"factory": factory, "train_s": round(trained - start, 3),
                "optimize_s": round(added - start, 3)}

    def open(self):
        self.index = faiss.read_index(self.options.index)
        if self.config == "hnsw":
            self.index.hnsw.efSearch = self.options.effort
        else:
            self.index.nprobe = self.options.effort

    def prepare(self, queries):
        return list(self.scaled(queries)[:, None, :])

    def search(self, query):
        faiss.omp_set_num_threads(1)  # the setting belongs to the calling thread
        return self.index.search(query, self.options.k)[1][0]


common.main(Faiss, "faiss", faiss.__version__)

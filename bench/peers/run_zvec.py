#!/usr/bin/env python3
"""run_zvec.py - zvec's Vamana index: degree 64, list 100, alpha 1.2, rotation for int4 and int8.

    run_zvec.py build  --config int4 --index DIR --base F [--metric cosine]
    run_zvec.py search --config int4 --index DIR --query F --truth F [--effort 200] [--call query]

`--call fast` (the default) times query_internal_ids(), which gives row numbers only; `--call query`
times the ordinary query(), which gives documents. A config ending in `-contiguous` holds the graph
and its codes in one block of memory instead of mapped pages; one ending in `-saturated` fills each
row's list to its degree, without which raw inner product finds half of what it should.

zvec 0.8.0 answers wrongly when optimize() builds an index with rotation from the collection's own
schema. So such an index is made by create_index() on a collection that was loaded flat.
"""
import importlib.metadata
import shutil
import sys
import time

import zvec

import common
import vecs

METRICS = {"cosine": zvec.MetricType.COSINE, "ip": zvec.MetricType.IP, "l2": zvec.MetricType.L2}
CODES = {"fp32": zvec.QuantizeType.UNDEFINED, "fp16": zvec.QuantizeType.FP16,
         "int8": zvec.QuantizeType.INT8, "int4": zvec.QuantizeType.INT4}
INSERT_ROWS = 500


class Zvec(common.Peer):
    calls = ["fast", "query"]
    configs = [code + tail for code in CODES for tail in ("", "-contiguous", "-saturated")]

    def __init__(self, options):
        super().__init__(options)
        self.collection = None
        zvec.init(log_level=zvec.LogLevel.ERROR, query_threads=options.threads,
                  optimize_threads=options.threads)

    def rotated(self):
        return self.config.startswith("int")

    def vamana(self):
        return zvec.VamanaIndexParam(
            metric_type=METRICS[self.options.metric], max_degree=64, search_list_size=100,
            alpha=1.2, quantize_type=CODES[self.config.split("-")[0]],
            quantizer_param=zvec.QuantizerParam(enable_rotate=self.rotated()),
            use_contiguous_memory=self.config.endswith("-contiguous"),
            saturate_graph=self.config.endswith("-saturated"))

    def create(self):
        flat = zvec.FlatIndexParam(metric_type=METRICS[self.options.metric])
        field = zvec.VectorSchema("vector", zvec.DataType.VECTOR_FP32, self.dim,
                                  flat if self.rotated() else self.vamana())
        shutil.rmtree(self.options.index, ignore_errors=True)
        schema = zvec.CollectionSchema("base", vectors=field)
        return zvec.create_and_open(self.options.index, schema,
                                    zvec.CollectionOption(read_only=False, enable_mmap=True))

    def insert(self, collection):
        for first, rows in vecs.blocks(self.options.base, count=INSERT_ROWS):
            docs = [zvec.Doc(id=str(first + i), vectors={"vector": row})
                    for i, row in enumerate(rows)]
            if not all(status.ok() for status in collection.insert(docs)):
                sys.exit("run_zvec.py: a row was refused")
        collection.flush()

    def build(self):
        collection, threads = self.create(), self.options.threads
        start = time.perf_counter()
        self.insert(collection)
        inserted = time.perf_counter()
        collection.optimize(zvec.OptimizeOption(concurrency=threads))
        optimized = time.perf_counter()
        if self.rotated():
            collection.create_index("vector", self.vamana(), zvec.IndexOption(concurrency=threads))
        collection.flush()
        end = time.perf_counter()
        collection.close()
        return {"insert_s": round(inserted - start, 3), "optimize_s": round(end - inserted, 3),
                "create_index_s": round(end - optimized, 3)}

    def open(self):
        self.collection = zvec.open(self.options.index,
                                    zvec.CollectionOption(read_only=True, enable_mmap=True))

    def prepare(self, queries):
        param = zvec.VamanaQueryParam(ef_search=self.options.effort, is_using_refiner=False)
        return [zvec.Query("vector", vector=query, param=param) for query in queries]

    def search(self, query):
        if self.options.call == "query":
            return self.collection.query(query, topk=self.options.k, output_fields=[])
        return self.collection.query_internal_ids(query, topk=self.options.k)

    def ids(self, found):
        if self.options.call == "query":
            return [int(doc.id) for doc in found]
        return [int(key) for key in self.collection.resolve_internal_ids(found) if key is not None]


common.main(Zvec, "zvec", importlib.metadata.version("zvec"))

"""common.py - what the peers' scripts share: the two phases and their command line.

Each run_*.py gives a subclass of Peer to main(). A peer is built in one process and searched in
another, so that the peak memory of each is its own. The last line of standard output is one JSON
object. The base file is streamed: the harness itself holds one block of it, and all queries.
"""
import argparse
import json
import os
import pathlib
import time

import timing
import vecs

WARM_UP = 200


class Peer:
    """What one library must offer. `options` are those of the command line."""

    configs = []
    calls = ["search"]

    def __init__(self, options):
        self.options = options
        self.config = options.config
        self.dim = vecs.shape(options.base if options.phase == "build" else options.query)[1]

    def build(self):
        """Makes and saves the index; returns the seconds of each step."""
        raise NotImplementedError

    def open(self):
        """Opens the saved index for searching."""
        raise NotImplementedError

    def prepare(self, queries):
        """One object a query, as search() takes it; not timed."""
        return list(queries)

    def search(self, query):
        """The timed call: the k nearest of one query, computed on the calling thread."""
        raise NotImplementedError

    def ids(self, found):
        """Row numbers of what search() gave; not timed."""
        return found


def disk_bytes(path):
    """Bytes of a file, or of all files of a folder."""
    path = pathlib.Path(path)
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def measure_search(peer, options):
    start = time.perf_counter()
    peer.open()
    result = {"open_s": round(time.perf_counter() - start, 3)}
    queries = peer.prepare(vecs.read(options.query))
    for query in queries[:WARM_UP]:
        peer.search(query)
    result |= timing.concurrent(peer.search, queries, options.workers, options.seconds)
    found, measured = timing.serial(peer.search, queries)
    result |= measured | timing.resident()
    truth = vecs.read(options.truth, "<i4")
    share = timing.recall([peer.ids(one) for one in found], truth, options.k)
    return result | {"recall": round(share, 5)}


def parse_arguments(peer_class, name):
    parser = argparse.ArgumentParser(description=f"Builds an index of {name}, or searches it.")
    add = parser.add_argument
    add("phase", choices=["build", "search"])
    add("--config", required=True, choices=peer_class.configs)
    add("--index", required=True, help="file or folder of the built index")
    add("--base", help="fvecs, to build from")
    add("--query", help="fvecs, to search")
    add("--truth", help="ivecs, the true nearest rows of each query")
    add("--metric", default="cosine", choices=["cosine", "ip", "l2"])
    add("--k", type=int, default=100)
    add("--effort", type=int, default=200, help="ef, or nprobe of an IVF index")
    add("--call", default=peer_class.calls[0], choices=peer_class.calls, help="what is timed")
    add("--threads", type=int, default=os.cpu_count(), help="of the build")
    add("--workers", type=int, default=8, help="threads that search side by side")
    add("--seconds", type=float, default=10, help="how long the workers search")
    return parser.parse_args()


def main(peer_class, name, version):
    harness_kib = timing.peak_rss_kib()
    options = parse_arguments(peer_class, name)
    peer = peer_class(options)
    result = {"peer": name, "version": version, "config": options.config, "phase": options.phase,
              "metric": options.metric, "dim": peer.dim, "harness_rss_kib": harness_kib}
    start = time.perf_counter()
    if options.phase == "build":
        result |= peer.build()
        result |= {"build_s": round(time.perf_counter() - start, 3),
                   "threads": options.threads, "disk_bytes": disk_bytes(options.index)}
    else:
        result |= {"call": options.call, "k": options.k, "effort": options.effort,
                   "workers": options.workers} | measure_search(peer, options)
    print(json.dumps(result | {"peak_rss_kib": timing.peak_rss_kib()}))

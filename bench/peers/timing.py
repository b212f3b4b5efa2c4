"""timing.py - how a search is measured: two loops over its queries, recall, and memory."""
import resource
import threading
import time

import numpy as np

SERIAL_PASSES = 3


def recall(found, truth, k):
    """The share of the k true nearest that were found, over all queries."""
    hits = sum(len(set(map(int, ids)) & set(true_ids[:k].tolist()))
               for ids, true_ids in zip(found, truth, strict=True))
    return hits / (len(truth) * k)


def peak_rss_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def resident():
    """Resident memory now, by kind."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return {f"rss_{name}_kib": int(fields["Rss" + name.capitalize()].split()[0])
            for name in ("anon", "file", "shmem")}


def quantiles(prefix, seconds):
    return {f"{prefix}_p{percent}_ms": round(float(np.percentile(seconds, percent)) * 1e3, 4)
            for percent in (50, 95, 99)}


def serial(search, queries):
    """Passes over all queries on this thread; the median pass counts."""
    passes, latencies = [], []
    for _ in range(SERIAL_PASSES):
        start, found = time.perf_counter(), []
        for query in queries:
            before = time.perf_counter()
            found.append(search(query))
            latencies.append(time.perf_counter() - before)
        passes.append(len(queries) / (time.perf_counter() - start))
    return found, {"serial_qps": round(float(np.median(passes)), 1),
                   "serial_qps_best": round(max(passes), 1), **quantiles("serial", latencies)}


def concurrent(search, queries, workers, seconds):
    """`workers` threads search one index until the time is up, each from a query of its own on."""
    latencies = [[] for _ in range(workers)]
    start = time.perf_counter()

    def work(worker):
        i = worker * len(queries) // workers
        while (before := time.perf_counter()) < start + seconds:
            search(queries[i % len(queries)])
            latencies[worker].append(time.perf_counter() - before)
            i += 1

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = sum(map(len, latencies))
    return {"concurrent_qps": round(done / (time.perf_counter() - start), 1),
            **quantiles("concurrent", np.concatenate(latencies))}

#!/usr/bin/env python3
"""compare.py - paua and its peers on the same files, in turn on the same machine.

    compare.py --paua PROGRAM --base F --query F --truth F --out FILE
               [--metric cosine] [--peers zvec-int4,zvec-int8] [--precisions int4,int8]
               [--ef 200] [--nprobe 64] [--extra --lean] [--rounds 1]

A peer is LIBRARY-CONFIG, see run_LIBRARY.py; `zvec-int4+query` times zvec's ordinary query()
instead of its fast call. An index is built once and searched with every --ef (--nprobe for IVF), in
every round. paua runs whole, `paua bench vectors`, with each precision and --ef, plain and once
more with each --extra. Runs of paua and of peers alternate, because a machine's speed drifts.

FILE gets each run's command and output, what else the cores did, the machine, the versions,
SHA-256 of the program and of the data, and the ratios, which are printed too: medians over the
rounds of figures of one round.
The parent uses the standard library only; the peers' packages are installed into --venv.
"""
import argparse
import itertools
import json
import os
import pathlib
import shutil
import sys
import tempfile

import machine
import ratios

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("zvec-int4,zvec-int4+query,zvec-int8,zvec-int8+query,zvec-fp16,zvec-fp32,"
         "faiss-ivf-4bit,faiss-ivf-2bit,faiss-hnsw,hnswlib-fp32,usearch-f32,usearch-f16,usearch-i8")
PRECISIONS = "int2,int4,int8,fp16,fp32"


class Comparison:
    """The options, the folder that the indexes are in, and the runs so far."""

    def __init__(self, options, python, scratch):
        self.options, self.python, self.scratch = options, python, pathlib.Path(scratch)
        self.runs = []

    def names(self, command):
        """The command as it is kept: without this machine's folders."""
        opt = self.options
        text = " ".join(map(str, command))
        for path in (opt.base, opt.query, opt.truth, opt.paua):
            text = text.replace(str(path), path.name)
        for path, name in ((self.scratch, "DIR"), (self.python, "python"), (f"{HERE}/", "")):
            text = text.replace(str(path), name)
        return text

    def run(self, command, env=None, **about):
        print(about["name"], about["phase"], about.get("effort", ""), file=sys.stderr, flush=True)
        run = {**about, "command": self.names(command), **machine.run(command, env)}
        if run["rc"] != 0:
            print(f"  failed with {run['rc']}: {run['errors'][-300:]}", file=sys.stderr)
        self.runs.append(run)

    def paua(self, turn, precision, extra, ef):
        opt = self.options
        command = [opt.paua, "bench", "vectors", "--base", opt.base, "--query", opt.query,
                   "--truth", opt.truth, "--metric", opt.metric, "--precision", precision,
                   "--index", "vamana", "--degree", "64", "--list", "100", "--ef", ef,
                   "--alpha", "1.2", "--occlusion", "750", "--k", opt.k, "--threads", opt.threads,
                   "--workers", opt.workers, "--seconds", opt.seconds, "--dir", self.scratch,
                   "--json", *extra.split()]
        name = " ".join(["paua-" + precision, *extra.split()])
        self.run(command, name=name, phase="whole", effort=ef, round=turn)

    def peer(self, turn, name, effort):
        opt = self.options
        index, _, call = name.partition("+")
        library, config = index.split("-", 1)
        command = [self.python, HERE / f"run_{library}.py"]
        shared = ["--config", config, "--index", self.scratch / index, "--metric", opt.metric,
                  "--threads", opt.threads]
        if not any(run["name"] == index and run["phase"] == "build" for run in self.runs):
            self.run([*command, "build", *shared, "--base", opt.base], machine.peer_environment(),
                     name=index, phase="build", round=turn)
        shared += ["--query", opt.query, "--truth", opt.truth, "--k", opt.k, "--effort", effort,
                   "--workers", opt.workers, "--seconds", opt.seconds]
        self.run([*command, "search", *shared, *(["--call", call] if call else [])],
                 machine.peer_environment(), name=name, phase="search", effort=effort, round=turn)

    def round(self, turn):
        opt = self.options
        ours = [(self.paua, turn, *task)
                for task in itertools.product(opt.precisions, ["", *opt.extra], opt.ef)]
        theirs = [(self.peer, turn, name, effort) for name in opt.peers
                  for effort in (opt.nprobe if "-ivf-" in name else opt.ef)]
        for pair in itertools.zip_longest(ours, theirs):
            for task in filter(None, pair):
                task[0](*task[1:])


def parse_arguments(words):
    def names(text):
        return [name for name in text.split(",") if name]

    def numbers(text):
        return [int(number) for number in names(text)]

    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("paua", "base", "query", "truth", "out"):
        parser.add_argument("--" + name, required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--metric", default="cosine", choices=["cosine", "ip", "l2"])
    parser.add_argument("--peers", type=names, default=PEERS)
    parser.add_argument("--precisions", type=names, default=PRECISIONS)
    parser.add_argument("--extra", action="append", default=[], help="options of paua, as --lean")
    parser.add_argument("--ef", type=numbers, default="200", help="comma-separated")
    parser.add_argument("--nprobe", type=numbers, default="64", help="comma-separated")
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--venv", type=pathlib.Path, default=HERE / "venv")
    parser.add_argument("--dir", help="where indexes and databases are made (default: TMPDIR)")
    return parser.parse_args(words)


def joined(words):
    """--extra and its value as one word: the value may itself be an option."""
    words = iter(words)
    return [f"{word}={next(words, '')}" if word == "--extra" else word for word in words]


def main():
    options = parse_arguments(joined(sys.argv[1:]))
    python = machine.install(options.venv, HERE / "requirements.txt")
    kept = machine.describe(options) | {"metric": options.metric, "k": options.k}
    scratch = tempfile.mkdtemp(prefix="compare-", dir=options.dir)
    comparison = Comparison(options, python, scratch)
    try:
        for turn in range(options.rounds):
            comparison.round(turn)
    finally:
        shutil.rmtree(scratch)
        kept |= {"runs": comparison.runs, "ratios": ratios.ratios(comparison.runs)}
        options.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    ratios.show(kept)


main()

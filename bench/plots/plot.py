#!/usr/bin/env python3
"""plot.py - draws what bench/peers/compare.py kept: recall against speed and against memory.

    plot.py RESULTS.json... --out DIR

Writes recall-serial.svg, recall-workers.svg and recall-memory.svg. A series is one precision of
paua or one peer; its points are its --ef (or --nprobe), joined in that order. Figures are medians
over the rounds; memory is the peak of loading, building and searching, whichever is highest.
"""
import argparse
import collections
import json
import pathlib
import sys

import chart

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
import ratios  # noqa: E402 - the peers' folder is no package

CHARTS = {
    "recall-serial": ("serial_qps", 1, "Queries a second, one at a time"),
    "recall-workers": ("concurrent_qps", 1, "Queries a second, side by side"),
    "recall-memory": ("peak_rss_kib", 1024, "Peak resident memory of the process, MiB"),
}


def collect(runs, figure, unit):
    """{(family, name): [(recall, value), ...]} by rising effort."""
    series = collections.defaultdict(list)
    for (name, _), rounds in sorted(ratios.figures(runs).items()):
        recall = ratios.median(one["recall"] for one in rounds.values())
        value = ratios.median(one[figure] for one in rounds.values())
        if recall is not None and value is not None:
            series[name.split("-", 1)[0], name].append((recall, value / unit))
    return series


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in options.results]
    runs = [run for one in kept for run in one["runs"]]
    first = kept[0]
    recall = f"recall@{first['k']} ({first['metric']})"
    options.out.mkdir(parents=True, exist_ok=True)
    for name, (figure, unit, what) in CHARTS.items():
        series = collect(runs, figure, unit)
        if not series:
            sys.exit("plot.py: no run has both a recall and a figure")
        title = f"{what}, against {recall}"
        picture = chart.draw(series, title, f"{recall}, logarithmic in what is missed")
        (options.out / f"{name}.svg").write_text(picture, encoding="utf-8")


main()

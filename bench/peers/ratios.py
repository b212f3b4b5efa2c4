"""ratios.py - what compare.py prints: the figures of each run, and paua's against each peer's."""
import collections
import statistics


def figures(runs):
    """{(name, effort): {round: figures}}; a peer's search has its build's figures with it."""
    builds = {run["name"]: run for run in runs if run["phase"] == "build"}
    series = collections.defaultdict(dict)
    for run in runs:
        if run["phase"] == "build" or not run["result"]:
            continue
        build = builds.get(run["name"].split("+")[0], run)
        series[run["name"], run["effort"]][run["round"]] = {
            "recall": run["result"].get("recall"),
            "serial_qps": run["result"].get("serial_qps"),
            "concurrent_qps": run["result"].get("concurrent_qps"),
            "optimize_s": (build["result"] or {}).get("optimize_s"),
            "disk_bytes": (build["result"] or {}).get("disk_bytes"),
            "peak_rss_kib": max(run["peak_rss_kib"], build["peak_rss_kib"]),
            "search_rss_kib": run["peak_rss_kib"]}
    return series


def quotient(over, under):
    return over / under if over is not None and under else None


def compared(ours, theirs):
    """One round: how many times as fast, and which share of the memory and disk."""
    return {
        "serial": quotient(ours["serial_qps"], theirs["serial_qps"]),
        "concurrent": quotient(ours["concurrent_qps"], theirs["concurrent_qps"]),
        "build": quotient(theirs["optimize_s"], ours["optimize_s"]),
        "peak_rss": quotient(ours["peak_rss_kib"], theirs["peak_rss_kib"]),
        "search_rss": quotient(ours["peak_rss_kib"], theirs["search_rss_kib"]),
        "disk": quotient(ours["disk_bytes"], theirs["disk_bytes"]),
    }


def median(values):
    values = [value for value in values if value is not None]
    return round(statistics.median(values), 4) if values else None


def ratios(runs):
    """The medians over the rounds, for each pair with the same ef (IVF: any nprobe)."""
    series = figures(runs)
    pairs = [(ours, theirs) for ours in series if ours[0].startswith("paua-")
             for theirs in series if not theirs[0].startswith("paua-")
             and (ours[1] == theirs[1] or "-ivf-" in theirs[0])]
    result = []
    for ours, theirs in pairs:
        rounds = [compared(series[ours][turn], series[theirs][turn])
                  for turn in series[ours].keys() & series[theirs].keys()]
        if rounds:
            pair = {"paua": ours[0], "ef": ours[1], "peer": theirs[0], "effort": theirs[1]}
            result.append(pair | {name: median(one[name] for one in rounds) for name in rounds[0]})
    return result


def text(value, digits):
    return "-" if value is None else f"{value:,.{digits}f}"


def line(first, effort, columns):
    return f"{first:34} {effort:>6} " + " ".join(f"{column:>11}" for column in columns)


def show(kept):
    """Prints both tables; figures are the medians over the rounds."""
    print(f"{kept['machine'].get('model name')}, {kept['machine']['cores']} cores, "
          f"commit {kept['commit']}, {kept['metric']}, k {kept['k']}\n")
    print(line("run", "effort", ["recall", "serial QPS", "worker QPS", "optimize s", "peak MiB",
                                 "search MiB", "disk MB"]))
    scales = {"recall": (1, 4), "serial_qps": (1, 0), "concurrent_qps": (1, 0),
              "optimize_s": (1, 1), "peak_rss_kib": (1024, 0), "search_rss_kib": (1024, 0),
              "disk_bytes": (1e6, 1)}
    for (name, effort), rounds in figures(kept["runs"]).items():
        values = {key: median(one[key] for one in rounds.values()) for key in scales}
        print(line(name, effort, [text(values[key] and values[key] / unit, digits)
                                  for key, (unit, digits) in scales.items()]))
    names = ["serial", "concurrent", "build", "peak_rss", "search_rss", "disk"]
    print("\nserial, concurrent and build: times as fast as the peer; the others: share of the "
          "peer's\n" + line("paua / peer", "effort", names))
    for one in kept["ratios"]:
        print(line(f"{one['paua']} / {one['peer']}", one["effort"],
                   [text(one[name], 2) for name in names]))

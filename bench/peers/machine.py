"""machine.py - runs a measured program, and tells what it ran on and with."""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

# Settings made for other programs would measure something else.
UNSET = ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
         "MKL_NUM_THREADS", "PAUA_TIER"]
# FAISS's OpenBLAS does not know new processors and falls back to SSE3, so it is told what to take.
KERNEL_SETS = [("avx512f", "SkylakeX"), ("avx2", "Haswell")]
CPU_FIELDS = ["vendor_id", "cpu family", "model", "model name", "stepping", "cache size"]


def cpuinfo():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        pairs = (line.split(":", 1) for line in file if ":" in line)
        return {name.strip(): value.strip() for name, value in pairs}


def environment():
    return {name: value for name, value in os.environ.items() if name not in UNSET}


def peer_environment():
    flags = cpuinfo().get("flags", "").split()
    known = [name for flag, name in KERNEL_SETS if flag in flags]
    return environment() | ({"OPENBLAS_CORETYPE": known[0]} if known else {})


def install(venv, requirements):
    """The peers' interpreter; the packages are installed first if the list is not that kept."""
    venv, wanted = venv.resolve(), requirements.read_text(encoding="utf-8")
    python, kept = venv / "bin" / "python", venv / requirements.name
    if not kept.exists() or kept.read_text(encoding="utf-8") != wanted:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True,
                       stdout=sys.stderr)
        kept.write_text(wanted, encoding="utf-8")
    return python


def last_object(text):
    """The JSON object on the last line, or nothing."""
    try:
        return json.loads(text.splitlines()[-1])
    except (IndexError, ValueError):
        return None


def busy_s():
    """Seconds that all cores together have worked or were taken away since the system started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def run(command, env=None):
    """Runs a command; its object, seconds, what wait4 tells of it, and what others worked."""
    busy, start = busy_s(), time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(list(map(str, command)), env=env or environment(),
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall, cpu = time.monotonic() - start, usage.ru_utime + usage.ru_stime
        others = max(0, busy_s() - busy - cpu)
        output.seek(0)
        errors.seek(0)
        result, said = last_object(output.read()), errors.read()
    return {"rc": child.returncode, "result": result, "wall_s": round(wall, 2),
            "cpu_s": round(cpu, 2), "others_cpu_s": round(others, 2),
            "peak_rss_kib": usage.ru_maxrss,
            "errors": said[-1000:] if child.returncode != 0 else ""}


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def commit():
    def git(*words):
        done = subprocess.run(["git", "-C", pathlib.Path(__file__).parent, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()

    changed = "-changed" if git("status", "--porcelain", "-uno") else ""
    return (git("rev-parse", "--short=10", "HEAD") or "none") + changed


def describe(options):
    """What the figures depend on."""
    cpu = cpuinfo()
    memory_kib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    data = {name: getattr(options, name) for name in ("base", "query", "truth")}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
        "commit": commit(),
        "machine": {name: cpu[name] for name in CPU_FIELDS if name in cpu} | {
            "cores": os.cpu_count(), "memory_kib": memory_kib, "kernel": platform.release(),
            "python": platform.python_version()},
        "data": {name: {"file": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
                 for name, path in data.items()},
        "paua": {"sha256": sha256(options.paua)},
    }

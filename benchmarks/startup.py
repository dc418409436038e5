"""How long the program takes to answer, against a bare Python interpreter.

Runs `cvmbench --help`, `cvmbench --version` and `python -c pass` in turn and prints the median of
each with its ratio to the bare interpreter. The first must stay under 0.3 s.

    python benchmarks/startup.py [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = str(Path(sys.executable).parent / "cvmbench")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "cvmbench --help": [PROGRAM, "--help"],
    "cvmbench --version": [PROGRAM, "--version"],
    "cvmbench list workloads": [PROGRAM, "list", "workloads"],
}


def seconds(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, argv in COMMANDS.items():
            times[name].append(seconds(argv))
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:24} {median:7.3f} s   {median / bare:5.1f} x a bare interpreter")


if __name__ == "__main__":
    main()

"""A process of its own that measures all trials of a run; started, and killed, by tests.

    writing_process.py STORE RUN_KEY SAMPLES

It prints a line when it is ready, waits for a line, prints one before it finishes each trial, and
one at the end.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from cvmbench.store.records import BootStatus, RawFile, TrialResult, TrialStatus
from cvmbench.store.store import Store


def main() -> None:
    path, key, samples = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with Store.open(path) as store, store.lock_run(key):
        run = store.run(key)
        print("ready", flush=True)
        sys.stdin.readline()
        store.recover(run.id)
        for trial in store.trials(run.id):
            if trial.status is TrialStatus.MEASURED:
                continue
            boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
            store.begin_trial(trial.id, boot.id)
            now = datetime.now(UTC)
            values = [trial.id + place / samples for place in range(samples)]
            raw = RawFile("stdout-1", f"trial {trial.id}\n".encode() * 100)
            print("finishing", trial.id, flush=True)
            store.finish_trial(trial.id, TrialResult({"rate": [values]}, now, now, (raw,)))
            store.end_boot(boot.id, BootStatus.ENDED)
    print("done", flush=True)


if __name__ == "__main__":
    main()

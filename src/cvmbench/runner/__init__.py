"""The engine: blocks, boots, trials, retries, progress, stopping and resuming."""

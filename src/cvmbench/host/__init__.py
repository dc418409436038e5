"""Facts about this machine: what it is, what it can run, and why not."""

"""The workloads, one file each, and the contract they keep."""

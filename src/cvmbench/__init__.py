"""cvmbench measures what a confidential VM costs, says why, and what lowers it."""

__version__ = "0.1.0"

"""Pure functions from samples to estimates, intervals and verdicts; no input or output."""

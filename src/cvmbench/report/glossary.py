"""The words of a report, explained."""

from __future__ import annotations

WORDS: tuple[tuple[str, str], ...] = (
    (
        "arm",
        "One configuration of the virtual machine under comparison. One arm is the baseline.",
    ),
    (
        "baseline",
        "The arm that all others are compared with.",
    ),
    (
        "block",
        "One round in which every arm is booted once, in random order, so that a drift of the "
        "host meets all arms alike.",
    ),
    (
        "boot",
        "One start of one arm. Boots, not iterations, are counted: iterations in one boot share "
        "its memory layout and its luck. A boot's value is the mean of its samples.",
    ),
    (
        "trial",
        "One workload in one boot.",
    ),
    (
        "overhead",
        "What the arm costs against the baseline, in percent; positive is worse. For metrics "
        "where higher is better 100·(1 − arm/baseline), else 100·(arm/baseline − 1).",
    ),
    (
        "interval",
        "Where the true overhead lies, by Welch's method on the logarithms of boot values. Of "
        "many 95% intervals, 19 in 20 hold the truth.",
    ),
    (
        "geometric mean",
        "Over the workloads' headline metrics, each turned so that more is worse. Every boot "
        "gives one value, so workloads that share a boot do not count as independent.",
    ),
    (
        "worse, better",
        "The whole interval lies beyond the practical threshold.",
    ),
    (
        "same",
        "The whole interval lies within the practical threshold.",
    ),
    (
        "cannot tell yet",
        "The interval crosses the threshold. The number of boots is what it would take if means "
        "and variances stay as measured: a forecast, not a promise.",
    ),
    (
        "functional (TCG)",
        "The guest's instructions were emulated. Everything ran for real, but times say nothing "
        "about hardware.",
    ),
)
"""Word and explanation, in the order in which a reader meets them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from cvmbench.analysis.boots import boot_values

Frames = Callable[..., pl.DataFrame]


def test_a_boot_counts_once_however_many_samples_it_gave(samples_frame: Frames) -> None:
    values = boot_values(samples_frame({"cpu": {"plain": [[1.0, 3.0], [10.0]]}}))

    assert values["value"].to_list() == [2.0, 10.0]
    assert values["samples"].to_list() == [2, 1]


def test_workloads_keep_the_order_of_the_run(samples_frame: Frames) -> None:
    boots = {"plain": [[1.0], [1.0]], "other": [[1.0], [1.0]]}
    values = boot_values(samples_frame({"zebra": boots, "ant": boots}))

    assert values["workload"].to_list() == ["zebra"] * 4 + ["ant"] * 4
    assert values["arm"].to_list()[:4] == ["other", "other", "plain", "plain"]


def test_an_empty_frame_gives_no_values(samples_frame: Frames) -> None:
    assert boot_values(samples_frame({"cpu": {"plain": [[1.0]]}}).clear()).is_empty()

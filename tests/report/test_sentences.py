from __future__ import annotations

from collections.abc import Callable

from cvmbench.report.sentences import ArmVerdict, arm_verdicts
from cvmbench.report.view import RunView


def _by_arm(view: RunView) -> dict[str, ArmVerdict]:
    return {verdict.arm.name: verdict for verdict in arm_verdicts(view)}


def test_every_arm_but_the_baseline_has_a_verdict(view: RunView) -> None:
    assert list(_by_arm(view)) == ["plain+swiotlb", "plain+idle-poll", "sev-snp+idle-poll"]


def test_a_costly_arm_is_said_to_cost_and_where_most(view_of: Callable[..., RunView]) -> None:
    verdict = _by_arm(view_of(functional=False))["sev-snp+idle-poll"]
    assert verdict.lead.startswith("Costs 2")
    assert "over plain in the geometric mean of 5 workloads (95% interval +" in verdict.lead
    assert verdict.advice.startswith("Plan for up to 42.")
    assert "in iperf3-tcp." in verdict.advice
    worse = verdict.findings[0]
    assert worse.word == "worse"
    assert [item.split()[0] for item in worse.items] == ["iperf3-tcp", "fio-randread", "mbw"]


def test_an_emulated_run_gives_no_advice_on_hardware(view: RunView) -> None:
    for verdict in arm_verdicts(view):
        assert "repeat the run on a machine with KVM" in verdict.advice
        assert "Plan for" not in verdict.advice


def test_what_is_open_says_how_much_more_it_takes(view_of: Callable[..., RunView]) -> None:
    verdict = _by_arm(view_of(functional=False))["plain+swiotlb"]
    assert "more blocks" in verdict.advice
    undecided = next(f for f in verdict.findings if f.word == "cannot tell yet")
    assert undecided.items[0].startswith("redis +")
    assert "(needs about" in undecided.items[0]


def test_what_was_not_measured_is_named(view: RunView) -> None:
    verdict = _by_arm(view)["plain+idle-poll"]
    assert verdict.findings[-1].word == "not measured"
    assert verdict.findings[-1].items == ("mbw",)


def test_a_run_without_numbers_says_so(view_of: Callable[..., RunView]) -> None:
    for verdict in arm_verdicts(view_of(measured_blocks=0)):
        assert verdict.lead.startswith("Not compared with plain: ")


def test_a_single_block_gives_no_interval(view_of: Callable[..., RunView]) -> None:
    for verdict in arm_verdicts(view_of(measured_blocks=1)):
        assert "from too few boots for an interval" in verdict.lead

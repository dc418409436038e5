from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cvmbench.guest.command import Output
from cvmbench.workloads.contract import Surroundings, one_line
from cvmbench.workloads.mbw import Mbw, MbwParameters


@given(st.text(), st.integers(2, 300))
def test_one_line_is_printable_and_bounded(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert line == "" or line.isprintable()


def test_one_line_of_a_short_line_is_the_line() -> None:
    assert one_line("no such file") == "no such file"
    assert one_line("a\x1b[2J\r\nb") == "a [2J b"
    assert one_line("x" * 500) == "x" * 199 + "…"


def test_the_complaint_is_the_last_line_on_standard_error() -> None:
    output = Output(("mbw",), 1, "ignored", "starting\nError: \x07no memory\n\n", 0.1)
    assert Mbw().complaint(output) == "Error: no memory"
    assert Mbw().complaint(Output(("mbw",), 1, "", "", 0.1)) == ""


def test_two_arrays_that_do_not_fit_make_mbw_unavailable(around: Surroundings) -> None:
    assert Mbw().unavailable(MbwParameters.quick(), around) == ""
    reason = Mbw().unavailable(MbwParameters.paper(), around)
    assert "1024 MiB" in reason
    assert "`array_mib`" in reason

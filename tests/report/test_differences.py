from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cvmbench.report.differences import Difference, differences, kernel_command_line

BASE = (
    *("qemu", "-nodefaults", "-machine", "q35,smm=off", "-append", "root=/dev/vda rw quiet"),
    *("-device", "virtio-blk-pci,drive=a,serial=x", "-device", "virtio-net-pci,netdev=n"),
)


def test_equal_command_lines_have_no_differences() -> None:
    assert differences(BASE, BASE) == ()


def test_kernel_arguments_are_compared_word_by_word() -> None:
    arm = tuple(word.replace("quiet", "idle=poll") for word in BASE)
    assert differences(BASE, arm) == (
        Difference("kernel command line", ("quiet",), ("idle=poll",)),
    )


def test_a_changed_property_is_told_without_the_rest_of_its_option() -> None:
    arm = tuple(word.replace("serial=x", "serial=y") for word in BASE)
    assert differences(BASE, arm) == (Difference("-device", ("serial=x",), ("serial=y",)),)


def test_an_option_that_is_added_stands_alone() -> None:
    arm = (*BASE, "-device", "pvpanic-pci")
    assert differences(BASE, arm) == (Difference("-device", (), ("pvpanic-pci",)),)


def test_an_option_that_is_gone_stands_alone() -> None:
    assert differences(BASE, ("qemu", *BASE[2:])) == (Difference("-nodefaults", ("",), ()),)


options = st.lists(
    st.tuples(st.sampled_from(["-a", "-b", "-c"]), st.sampled_from(["x", "y,p=1", "y,p=2"])),
    max_size=6,
)


@given(options, options)
def test_swapping_the_sides_swaps_the_differences(
    left: list[tuple[str, str]], right: list[tuple[str, str]]
) -> None:
    def flat(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
        return ("qemu", *(word for pair in pairs for word in pair))

    forth = differences(flat(left), flat(right))
    back = differences(flat(right), flat(left))
    words = sorted(w for d in forth for w in d.only_arm)
    assert words == sorted(w for d in back for w in d.only_baseline)
    assert (forth == ()) == (sorted(left) == sorted(right))


def test_the_kernel_command_line_is_what_append_says() -> None:
    assert kernel_command_line(BASE) == "root=/dev/vda rw quiet"
    assert kernel_command_line(("qemu",)) == ""

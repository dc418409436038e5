from __future__ import annotations

import pytest

from cvmbench.vm.diagnosis import diagnose


@pytest.mark.parametrize(
    ("said", "why", "transient"),
    [
        (
            "qemu-system-x86_64: -netdev user,id=n0: Could not set up host forwarding rule "
            "'tcp:127.0.0.1:22-:22'",
            "is taken",
            True,
        ),
        (
            "Could not access KVM kernel module: No such file or directory\n"
            "qemu-system-x86_64: -accel kvm: failed to initialize kvm: No such file or directory",
            "cannot open /dev/kvm",
            False,
        ),
        (
            "qemu-system-x86_64: error: failed to set MSR 0x10a to 0xc000069",
            "cannot run this CPU model",
            False,
        ),
        (
            "qemu-system-x86_64: cannot set up guest memory 'ram0': Cannot allocate memory",
            "not enough free memory",
            False,
        ),
    ],
)
def test_known_messages_have_a_cause(said: str, why: str, transient: bool) -> None:
    cause = diagnose(said)
    assert cause is not None
    assert why in cause.why
    assert cause.remedy
    assert cause.transient is transient


def test_other_messages_have_none() -> None:
    assert diagnose("qemu-system-x86_64: warning: something else") is None

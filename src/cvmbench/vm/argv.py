"""The QEMU command line that a VM spec means; pure.

Every arm gets the same devices with the same properties. Virtio devices are told
`iommu_platform=on,disable-legacy=on` in every arm: confidential guests force it, and without it
an ordinary guest's virtio would go around the bounce buffers that an arm asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cvmbench.vm.spec import Accelerator, Disk, TapNetwork, UserNetwork, VmSpec

_VIRTIO = "iommu_platform=on,disable-legacy=on"


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open file descriptors that QEMU inherits instead of opening things by name.

    Without them the command line stands by itself: QEMU listens on `qmp.sock`, writes the serial
    line to standard output, and opens tap devices by their name.
    """

    qmp: int | None = None
    serial: int | None = None
    taps: Mapping[str, int] = field(default_factory=dict)


def qemu_argv(
    spec: VmSpec, descriptors: Descriptors | None = None, qemu: str = "qemu-system-x86_64"
) -> tuple[str, ...]:
    """The whole command line, `qemu` first."""
    fds = descriptors or Descriptors()
    arguments = [qemu, "-nodefaults", "-no-user-config", "-vga", "none", "-display", "none"]
    arguments += ["-no-reboot"]
    arguments += ["-machine", "q35,vmport=off,smm=off,hpet=off,memory-backend=ram0"]
    arguments += ["-object", f"memory-backend-memfd,id=ram0,size={spec.memory_bytes},share=on"]
    arguments += ["-m", f"size={spec.memory_bytes}B"]
    arguments += ["-accel", _accelerator(spec.accelerator)]
    arguments += ["-cpu", spec.cpu, "-smp", str(spec.vcpus)]
    arguments += ["-kernel", str(spec.kernel), "-initrd", str(spec.initrd)]
    arguments += ["-append", " ".join(spec.kernel_arguments)]
    for disk in spec.disks:
        arguments += _disk(disk)
    for network in spec.networks:
        arguments += _network(network, fds)
    arguments += ["-object", "rng-random,id=rng0,filename=/dev/urandom"]
    arguments += ["-device", f"virtio-rng-pci,rng=rng0,{_VIRTIO}"]
    arguments += ["-device", "pvpanic-pci"]
    arguments += _serial(fds.serial)
    arguments += _qmp(fds.qmp)
    return tuple(arguments)


def _accelerator(accelerator: Accelerator) -> str:
    return "tcg,thread=multi" if accelerator is Accelerator.TCG else "kvm"


def _disk(disk: Disk) -> list[str]:
    cache = f"cache.direct={_on(disk.direct)},cache.no-flush={_on(disk.scratch)}"
    file = {
        "driver": "file",
        "filename": _escaped(str(disk.file)),
        "node-name": f"{disk.id}-file",
        "aio": "native" if disk.direct else "threads",
        "discard": "unmap",
    }
    file_node = ",".join(f"{key}={value}" for key, value in file.items()) + f",{cache}"
    node = f"driver={disk.format},node-name={disk.id},file={disk.id}-file,{cache}"
    serial = f",serial={disk.serial}" if disk.serial else ""
    return [
        *("-blockdev", file_node),
        *("-blockdev", node),
        *("-device", f"virtio-blk-pci,drive={disk.id},{_VIRTIO}{serial}"),
    ]


def _network(network: UserNetwork | TapNetwork, fds: Descriptors) -> list[str]:
    match network:
        case UserNetwork():
            forwards = "".join(
                f",hostfwd=tcp:127.0.0.1:{forward.host_port}-:{forward.guest_port}"
                for forward in network.forwards
            )
            backend = f"user,id={network.id},net={network.network},restrict=on{forwards}"
        case TapNetwork() if network.id in fds.taps:
            backend = f"tap,id={network.id},fd={fds.taps[network.id]},vhost=off"
        case TapNetwork():
            backend = (
                f"tap,id={network.id},ifname={network.interface},script=no,downscript=no,vhost=off"
            )
    device = f"virtio-net-pci,netdev={network.id},mac={network.mac},romfile=,{_VIRTIO}"
    return ["-netdev", backend, "-device", device]


def _serial(fd: int | None) -> list[str]:
    if fd is None:
        return ["-serial", "stdio"]
    return ["-chardev", f"socket,id=serial0,fd={fd}", "-serial", "chardev:serial0"]


def _qmp(fd: int | None) -> list[str]:
    where = "path=qmp.sock,server=on,wait=off" if fd is None else f"fd={fd}"
    return ["-chardev", f"socket,id=qmp0,{where}", "-mon", "chardev=qmp0,mode=control"]


def _on(value: bool) -> str:
    return "on" if value else "off"


def _escaped(value: str) -> str:
    """A value inside a comma-separated QEMU option: commas are doubled (qemu(1))."""
    return value.replace(",", ",,")

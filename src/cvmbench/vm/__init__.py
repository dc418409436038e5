"""Virtual machines: a frozen spec, the QEMU command line it means, and the running machine."""

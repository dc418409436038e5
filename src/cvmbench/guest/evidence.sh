# Prints what this guest says about itself, one section after another. Read-only; needs root for
# debugfs and MSRs. Runs on any Linux with a POSIX shell.
section() { printf '\n@@ %s\n' "$1"; }
first() { head -c "${2:-400}" "$1" 2>/dev/null; }

section cmdline;            first /proc/cmdline 4000
section kernel;             uname -r
section virtualization;     systemd-detect-virt --vm 2>/dev/null
section confidential;       systemd-detect-virt --cvm 2>/dev/null
section memory_encryption;  dmesg 2>/dev/null | grep -m 1 'Memory Encryption Features active:'
section cpu_flags;          grep -m 1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -x -e tdx_guest -e hypervisor | tr '\n' ' '
section cpu_model;          grep -m 1 '^model name' /proc/cpuinfo | cut -d: -f2
section vcpus;              grep -c '^processor' /proc/cpuinfo
section memory_kb;          grep '^MemTotal' /proc/meminfo | tr -dc '0-9'
section devices;            for device in /dev/sev-guest /dev/tdx_guest; do [ -e "$device" ] && printf '%s ' "$device"; done
section polling_idle;       dmesg 2>/dev/null | grep -m 1 -i 'using polling idle threads'
section idle_driver;        first /sys/devices/system/cpu/cpuidle/current_driver
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
section swiotlb_slots;      first /sys/kernel/debug/swiotlb/io_tlb_nslabs
section swiotlb_high_water; first /sys/kernel/debug/swiotlb/io_tlb_used_hiwater
section swiotlb_message;    dmesg 2>/dev/null | grep -m 1 'software IO TLB: mapped'
section huge_pages;         first /sys/kernel/mm/transparent_hugepage/enabled
section clock_source;       first /sys/devices/system/clocksource/clocksource0/current_clocksource
section mitigations;        grep -H '' /sys/devices/system/cpu/vulnerabilities/* 2>/dev/null | sed 's|.*/||' | head -c 4000
section end

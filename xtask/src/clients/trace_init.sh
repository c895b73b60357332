#!/bin/busybox sh
# The first and only program of the guest: known requests to the first disk while blktrace records them, and what it recorded onto the second.
/bin/busybox mkdir -p /proc /sys /dev /trace
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs dev /dev 2>/dev/null
disk=/dev/nvme0n1
say() { echo "GUEST $*" >/dev/console; }
until_there() { waited=0; while ! ls $1 >/dev/null 2>&1 && [ $waited -lt 60 ]; do sleep 1; waited=$((waited + 1)); done; }
until_there /dev/nvme1n1
cd /trace
/sbin/blktrace -d $disk -o disk >log 2>&1 &
tracer=$!
until_there '/trace/disk.blktrace.*'
# `trace.rs` expects these: writes of 1 to 4 blocks of 4 KiB and reads of 16 KiB, then writes with unit access, a flush and a discard.
number=0
while [ $number -lt 40 ]; do
  /sbin/dd if=/dev/urandom of=$disk bs=4k count=$((1 + number % 4)) seek=$((number * 97)) oflag=direct conv=notrunc 2>/dev/null || say "FAILED write"
  /sbin/dd if=$disk of=/dev/null bs=16k count=1 skip=$((number * 11)) iflag=direct 2>/dev/null || say "FAILED read"
  number=$((number + 1))
done
/sbin/dd if=/dev/zero of=$disk bs=4k count=2 seek=9000 oflag=direct,dsync conv=notrunc 2>/dev/null || say "FAILED synchronous write"
/sbin/dd if=/dev/zero of=$disk bs=64k count=2 seek=700 conv=notrunc,fsync 2>/dev/null || say "FAILED flush"
/sbin/blkdiscard -o 1048576 -l 262144 $disk || say "FAILED discard"
kill -INT $tracer
wait $tracer
cat log >/dev/console
tar c disk.blktrace.* | dd of=/dev/nvme1n1 bs=64k 2>/dev/null || say "FAILED copy"
sync
say "DONE"
poweroff -f

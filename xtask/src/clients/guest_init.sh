#!/bin/busybox sh
# The first and only program of the guest: a file system on the NVMe disk, files whose sums go to the console once they are synced.
/bin/busybox mkdir -p /proc /sys /dev /mnt /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
disk=/dev/nvme0n1
say() { echo "GUEST $*" >/dev/console; }
waited=0
while [ ! -b $disk ] && [ $waited -lt 30 ]; do sleep 1; waited=$((waited + 1)); done
phase=$(sed -n 's/.*phase=\([a-z]*\).*/\1/p' /proc/cmdline)
say "begins $phase"
if [ "$phase" = format ]; then
  mkfs.ext4 -q $disk || say "FAILED mkfs"
fi
mount -t ext4 -o discard $disk /mnt || say "FAILED mount"
if [ "$phase" = verify ]; then
  for file in /mnt/f*; do
    sum=$(sha256sum <"$file") && say "HAS ${file#/mnt/} ${sum%% *}"
  done
  umount /mnt || say "FAILED umount"
  e2fsck -f -n $disk || say "FAILED e2fsck"
  say "DONE"
  poweroff -f
fi
number=0
while true; do
  number=$((number + 1))
  file=f$number
  dd if=/dev/urandom of=/mnt/$file bs=16k count=$((1 + number % 32)) 2>/dev/null
  sum=$(sha256sum </mnt/$file)
  sync
  say "KEPT $file ${sum%% *}"
  [ $number -gt 60 ] && rm -f /mnt/f$((number - 60)) && say "GONE f$((number - 60))"
done

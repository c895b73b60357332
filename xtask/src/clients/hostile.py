"""Clients that mean no good, beside one that does.

    hostile.py URI SOCKET PID BOUND_MIB

The good one writes and reads back for as long as the others are at it. Fails if it is ever answered wrongly, or not within a minute, or if the server's resident
memory passes the bound. Prints what was reached.
"""

import os
import random
import socket
import struct
import sys
import threading
import time

import nbd

OPTION, REQUEST = 0x49484156454F5054, 0x25609513
LARGE = 32 << 20
uri, path, pid, bound = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
stop = threading.Event()
seen = {"resident": 0, "good": 0, "slowest": 0.0}
broken = []


def resident():
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) >> 10


def watch():
    while not stop.is_set():
        seen["resident"] = max(seen["resident"], resident())
        time.sleep(0.02)


def good():
    try:
        handle, draw = nbd.NBD(), random.Random(1)
        handle.connect_uri(uri)
        while not stop.is_set():
            data, offset = draw.randbytes(16384), draw.randrange(1000) * 16384
            start = time.monotonic()
            handle.pwrite(data, offset, nbd.CMD_FLAG_FUA if draw.random() < 0.1 else 0)
            if handle.pread(16384, offset) != data:
                broken.append(f"what was written at {offset} reads differently")
            seen["slowest"] = max(seen["slowest"], time.monotonic() - start)
            seen["good"] += 1
        handle.shutdown()
    except nbd.Error as error:
        broken.append(f"the good client: {error}")


def connect():
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(5)
    stream.connect(path)
    return stream


def opened():
    """A connection with the export open, whose answers nobody reads from here on."""
    stream = connect()
    name = b"disk"
    stream.sendall(struct.pack(">I", 3) + struct.pack(">QII", OPTION, 1, len(name)) + name)
    left = 18 + 10
    while left:
        came = len(stream.recv(left))
        if not came:
            # All places are taken.
            raise ConnectionResetError("hung up on")
        left -= came
    return stream


def request(kind, offset, length, cookie=0, flags=0):
    return struct.pack(">IHHQQI", REQUEST, flags, kind, cookie, offset, length)


def send(stream, *parts):
    """Sends until the server takes no more; returns whether it took all."""
    try:
        for part in parts:
            stream.sendall(part)
        return True
    except OSError:
        return False


def half_open(_):
    """Connections that stop in the middle of something."""
    streams = [connect() for _ in range(6)]
    for stream, bytes_ in zip(streams, (b"", b"\0\0", struct.pack(">I", 3), struct.pack(">IQ", 3, OPTION), b"\xff" * 64, bytes(4096))):
        send(stream, bytes_)
    more = [opened() for _ in range(4)]
    send(more[0], request(1, 512 << 20, LARGE))
    send(more[1], request(1, 512 << 20, LARGE), bytes(1 << 20))
    send(more[2], request(0, 0, 4096)[:13])
    return streams + more


def flood(_):
    """Writes of 32 MiB, one behind the other, whose answers nobody reads."""
    stream, payload = opened(), bytes(LARGE)
    stream.settimeout(10)
    end = time.monotonic() + 6
    while time.monotonic() < end and send(stream, request(1, 600 << 20, LARGE), payload):
        pass
    return [stream]


def deaf(_):
    """Reads of 32 MiB by the hundred, not one of which is listened to."""
    stream = opened()
    send(stream, b"".join(request(0, 64 << 20, LARGE, cookie) for cookie in range(2000)))
    return [stream]


def absurd(seed):
    """Offsets and lengths off the end of the world, each of which has to be refused; then noise."""
    draw = random.Random(seed)
    edges = [0, 1, 511, 512, 1 << 20, (1 << 30) - 512, 1 << 30, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 4096, (1 << 64) - 1]
    for _ in range(400):
        try:
            stream = opened()
            for cookie in range(10):
                kind, offset = draw.choice((0, 1, 3, 4, 5, 6, 7, 8, 9, 255, 65535)), draw.choice(edges)
                length = draw.choice((0, 1, 512, 4096, LARGE, LARGE + 1, 0x7FFFFFFF, 0xFFFFFFFF))
                # Nothing that could be carried out where the good client writes.
                offset += (256 << 20) if offset < 256 << 20 else 0
                stream.sendall(request(kind, offset & (1 << 64) - 1, length, cookie, draw.choice((0, 1, 2, 16, 32, 0xFFFF))))
            stream.sendall(draw.randbytes(draw.randrange(2000)))
            stream.close()
        except OSError:
            pass
    return []


def attempt(attack, seed, kept):
    try:
        kept.extend(attack(seed))
    except OSError:
        seen["refused"] += 1


def main():
    before = resident()
    helpers = [threading.Thread(target=watch), threading.Thread(target=good)]
    for helper in helpers:
        helper.start()
    # It is there before the others: of strangers the oldest makes room for the newest.
    while not seen["good"] and not broken:
        time.sleep(0.01)
    for attack, count in ((half_open, 3), (flood, 4), (deaf, 8), (absurd, 3)):
        kept = []
        seen["resident"], seen["refused"], asked = 0, 0, seen["good"]
        threads = [threading.Thread(target=attempt, args=(attack, seed, kept)) for seed in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            if thread.is_alive():
                broken.append(f"{attack.__name__} does not end")
        # Whatever came before, the good client goes on.
        start, there = time.monotonic(), seen["good"]
        while seen["good"] == there and not broken and time.monotonic() - start < 60:
            time.sleep(0.01)
        if seen["good"] == there:
            broken.append("the good client is not answered any more")
        time.sleep(0.1)
        print(f"{attack.__name__:10} x{count}: resident {seen['resident']} MiB ({before} before); good client {seen['good'] - asked} rounds,"
              f" slowest {seen['slowest'] * 1000:.0f} ms; {seen['refused']} refused", flush=True)
        if seen["refused"] == count:
            broken.append(f"{attack.__name__} never got in")
        # Their places are needed by the next.
        for stream in kept:
            stream.close()
        if seen["resident"] > bound:
            broken.append(f"{seen['resident']} MiB are resident, more than {bound}")
        seen["slowest"] = 0.0
    stop.set()
    for helper in helpers:
        helper.join(60)
    if broken:
        print("\n".join(broken))
    sys.stdout.flush()
    os._exit(1 if broken else 0)


main()

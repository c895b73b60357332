"""What may stand in each block after the drive was killed, kept by a client.

    ledger.py load URI LEDGER SEED [capacitor|stop] [failing]    write, trim, flush and read until the drive dies, or takes no more
    ledger.py check URI LEDGER         read everything and compare
    ledger.py check URI LEDGER PROGRAM CONTROL    the same, of a drive of which a part has failed: the blocks that `PROGRAM ctl CONTROL` calls lost
                                       fail, and no others
    ledger.py look URI LEDGER          the same, of a drive that runs: what is found there is what a read gives, and need not stay

A block (4 KiB) may hold its last durable state or any later one that was asked for: durable is what was acknowledged with FUA, or before a flush that was
acknowledged, and with capacitors every write that was acknowledged, and where the drive is stopped, not killed, all that was acknowledged. It holds one of these states whole: each sector names its own number and the write it is of. What a check has found has to stay.
With `failing`, reads may fail, and nothing else may.
Does not check: which of two states that both may be there is there; reads while a write of the same block is under way.
"""

import errno
import json
import pickle
import random
import struct
import subprocess
import sys

import nbd

BLOCK, SECTOR = 4096, 512
SECTORS = BLOCK // SECTOR
BLOCKS = (192 << 20) // BLOCK
FIRST = 512 << 20
DEPTH = 24


def sector_bytes(sector, stamp):
    return bytes(SECTOR) if stamp == 0 else struct.pack("<QQ", sector, stamp) * (SECTOR // 16)


def block_bytes(block, state):
    return b"".join(sector_bytes(block * SECTORS + index, stamp) for index, stamp in enumerate(state))


class Ledger:
    def __init__(self):
        # The states a block may hold, oldest first, each with its number. The newest is what a read gives.
        self.states = {block: [(0, (0,) * SECTORS)] for block in range(BLOCKS)}
        self.number = 0
        # Acknowledged, and not known to be durable: blocks and numbers of states, in order.
        self.acknowledged = []

    def change(self, block, first, last, stamp):
        """A state in which the sectors of the block from first to last are of the write stamp. Returns its number."""
        self.number += 1
        state = list(self.states[block][-1][1])
        state[first:last] = [stamp] * (last - first)
        self.states[block].append((self.number, tuple(state)))
        return self.number

    def durable(self, block, number):
        states = self.states[block]
        while len(states) > 1 and states[1][0] <= number:
            states.pop(0)


class Load:
    def __init__(self, uri, ledger, seed, owed):
        self.ledger, self.draw = ledger, random.Random(seed)
        self.has_capacitors, self.is_stopped, self.is_failing = ("capacitor" in owed), ("stop" in owed), ("failing" in owed)
        self.handles = [nbd.NBD(), nbd.NBD()]
        for handle in self.handles:
            handle.connect_uri(uri)
        self.busy, self.in_flight, self.dead = set(), 0, False
        # The first error that the drive answered with.
        self.errno = 0
        self.count = dict.fromkeys(("writes", "fua", "trims", "zeroes", "flushes", "reads", "lost"), 0)

    def submit(self, what, handle, ask, done=lambda: None, lost=lambda: None):
        def completed(error):
            self.in_flight -= 1
            if error.value == errno.EIO and self.is_failing and what == "reads":
                self.count["lost"] += 1
                lost()
            elif error.value != 0:
                self.dead = True
                self.errno = self.errno or error.value
            elif not self.dead:
                self.count[what] += 1
                done()
            return 1

        self.in_flight += 1
        try:
            ask(handle, completed)
        except nbd.Error:
            self.in_flight -= 1
            self.dead = True

    def range(self):
        draw = self.draw
        count = draw.choice((1, 1, 1, 2, 4, 16, 40))
        block = min(int(BLOCKS * draw.random() ** 3), BLOCKS - count)
        blocks = range(block, block + count)
        return None if self.busy.intersection(blocks) else blocks

    def write(self, handle, blocks, kind, fua):
        ledger, draw = self.ledger, self.draw
        is_write = kind == "writes"
        first, last = 0, len(blocks) * SECTORS
        if is_write and draw.random() < 0.2:
            # A part of the first and of the last block only.
            first, last = draw.randrange(SECTORS), last - draw.randrange(SECTORS)
            if first >= last:
                first = last - 1
        stamp = ledger.number + 1 if is_write else 0
        numbers = []
        for index, block in enumerate(blocks):
            begin, end = max(first - index * SECTORS, 0), min(last - index * SECTORS, SECTORS)
            if begin < end:
                numbers.append((block, ledger.change(block, begin, end, stamp)))
        offset = FIRST + blocks[0] * BLOCK + first * SECTOR
        length = (last - first) * SECTOR
        flags = nbd.CMD_FLAG_FUA if fua else 0
        self.busy.update(blocks)

        def done():
            self.busy.difference_update(blocks)
            self.count["fua"] += fua
            if fua or self.is_stopped or (is_write and self.has_capacitors):
                for block, number in numbers:
                    ledger.durable(block, number)
            else:
                ledger.acknowledged.extend(numbers)

        if is_write:
            start = blocks[0] * SECTORS
            data = b"".join(sector_bytes(start + sector, stamp) for sector in range(first, last))
            buffer = nbd.Buffer.from_bytearray(bytearray(data))
            self.submit(kind, handle, lambda h, c: h.aio_pwrite(buffer, offset, c, flags), done)
        elif kind == "trims":
            self.submit(kind, handle, lambda h, c: h.aio_trim(length, offset, c, flags), done)
        else:
            self.submit(kind, handle, lambda h, c: h.aio_zero(length, offset, c, flags), done)

    def read(self, handle, blocks):
        expected = b"".join(block_bytes(block, self.ledger.states[block][-1][1]) for block in blocks)
        buffer = nbd.Buffer(len(expected))
        self.busy.update(blocks)

        def done():
            self.busy.difference_update(blocks)
            if buffer.to_bytearray() != expected:
                sys.exit(f"blocks {blocks} read differently from what was written last")

        lost = lambda: self.busy.difference_update(blocks)
        self.submit("reads", handle, lambda h, c: h.aio_pread(buffer, FIRST + blocks[0] * BLOCK, c), done, lost)

    def flush(self, handle):
        # It covers what has been acknowledged by now, on either connection.
        covered = self.ledger.acknowledged
        self.ledger.acknowledged = []

        def done():
            for block, number in covered:
                self.ledger.durable(block, number)

        self.submit("flushes", handle, lambda h, c: h.aio_flush(c), done)

    def run(self):
        draw = self.draw
        while not self.dead:
            while self.in_flight < DEPTH and not self.dead:
                handle, kind = draw.choice(self.handles), draw.random()
                blocks = self.range()
                if kind < 0.02:
                    self.flush(handle)
                elif blocks is None:
                    break
                elif kind < 0.70:
                    self.write(handle, blocks, "writes", draw.random() < 0.1)
                elif kind < 0.78:
                    self.write(handle, blocks, "trims", draw.random() < 0.1)
                elif kind < 0.82:
                    self.write(handle, blocks, "zeroes", draw.random() < 0.1)
                else:
                    self.read(handle, blocks)
            for handle in self.handles:
                try:
                    handle.poll(1)
                except nbd.Error:
                    self.dead = True


def lost_blocks(program, control):
    """Blocks of which the drive says that something of them is lost."""
    lost, start = set(), FIRST
    while start is not None:
        words = ["ctl", control, "lba-status", "lost=true", f"offset={start}", f"length={FIRST + BLOCKS * BLOCK - start}"]
        answer = json.loads(subprocess.run([program, *words], check=True, capture_output=True).stdout)
        for run in answer["lost"]:
            first, end = run["lba"] - FIRST // SECTOR, run["lba"] + run["count"] - FIRST // SECTOR
            lost.update(range(max(first // SECTORS, 0), min(-(-end // SECTORS), BLOCKS)))
        start = answer["next"]
    return lost


def read(handle, block, first=0, count=SECTORS):
    try:
        return handle.pread(count * SECTOR, FIRST + block * BLOCK + first * SECTOR)
    except nbd.Error as error:
        if error.errno != "EIO":
            raise
        return None


def check(uri, ledger, has_to_stay, lost):
    is_failing = lost is not None
    lost = lost or set()
    handle = nbd.NBD()
    handle.connect_uri(uri)
    older, failed, step = 0, 0, 256
    for start in range(0, BLOCKS, step):
        data = read(handle, start, 0, step * SECTORS)
        if data is None and not is_failing:
            sys.exit(f"blocks {start} to {start + step - 1}: EIO")
        for block in range(start, start + step):
            found = read(handle, block) if data is None else data[(block - start) * BLOCK:(block - start + 1) * BLOCK]
            states = ledger.states[block]
            # Of a block that was written in part since, the drive names the rest once its page was read.
            is_named = block in lost or (found is None and any(read(handle, block, sector, 1) for sector in range(SECTORS)))
            if (found is None) != is_named:
                sys.exit(f"block {block} {'fails' if found is None else 'does not fail'}, and the drive says otherwise")
            if found is None:
                failed += 1
                continue
            # The newest first: it is the likeliest.
            state = next((state for state in reversed(states) if block_bytes(block, state[1]) == found), None)
            if state is None:
                heads = [struct.unpack_from("<QQ", found, sector * SECTOR) for sector in range(SECTORS)]
                sys.exit(f"block {block} (first sector {block * SECTORS}) holds sectors of (sector, write) {heads};"
                         f" it may hold {states} (number, write of each sector)")
            older += state is not states[-1]
            if has_to_stay:
                ledger.states[block] = [state]
            elif state is not states[-1]:
                # A write that was refused has not happened.
                ledger.number += 1
                states.append((ledger.number, state[1]))
    if has_to_stay:
        ledger.acknowledged = []
    handle.shutdown()
    print(f"{BLOCKS} {older} {failed}")


def main():
    task, uri, path = sys.argv[1:4]
    try:
        with open(path, "rb") as file:
            ledger = pickle.load(file)
    except FileNotFoundError:
        ledger = Ledger()
    if task == "load":
        load = Load(uri, ledger, int(sys.argv[4]), sys.argv[5:])
        load.run()
        print(" ".join(f"{count} {what}" for what, count in load.count.items()), f"errno {load.errno}")
    else:
        check(uri, ledger, task == "check", lost_blocks(*sys.argv[4:6]) if len(sys.argv) > 4 else None)
    with open(path, "wb") as file:
        pickle.dump(ledger, file)


main()

"""What the scripts that peers' interpreters run have in common; the standard library only."""

import json
import os
import sys
import time

BATCHES = 15  # the fastest of so many counts: the others were disturbed
BATCH_SECONDS = 0.02
ENOUGH_SECONDS = 2.0  # after which no further batch begins


def microseconds(call):
    """Fastest mean over batches of calls from Python, the call's own overhead included; time of the processor."""
    times, best, began = 1, float("inf"), time.process_time()
    for _ in range(BATCHES):
        start = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - start) / times)
        times = max(1, int(BATCH_SECONDS / best))
        if time.process_time() - began > ENOUGH_SECONDS:
            break
    return 1e6 * best


def serve(version, measure, call_us):
    """Answer a job {"states": {links: [q, v]}} with times and accelerations by the number of links; None where memory is short."""
    answer = {"version": version, "call_us": call_us(), "us": {}, "accelerations": {}, "refused": {}}
    for links, (q, v) in json.load(sys.stdin)["states"].items():
        try:
            answer["us"][links], answer["accelerations"][links] = measure(int(links), q, v)
        except MemoryError as short:
            answer["us"][links], answer["accelerations"][links] = None, None
            answer["refused"][links] = str(short)
    print(json.dumps(answer))


def memory():
    """Of the machine, bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

"""Several threads on one filter, and none of them waits for ever."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from umbel import Bloom, CountMin


def test_threads_that_add_lose_nothing():
    seen, hits = Bloom(80_000, integers=True), CountMin(integers=True)
    parts = [np.arange(i * 10_000, (i + 1) * 10_000) for i in range(8)]

    def work(part):
        seen.update(part)
        hits.update(part.tolist())
        return bool(seen.contains(part).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, parts))
    whole = Bloom(80_000, integers=True)
    whole.update(np.arange(80_000))
    assert seen == whole and hits.total == 80_000


def test_merging_crosswise_does_not_stand_still():
    a, b = Bloom(1000), Bloom(1000)
    a.add("a"), b.add("b")

    def work(pair):
        for _ in range(300):
            pair[0].merge(pair[1])
            assert pair[0] == pair[0] or pair[0] != pair[1]
            pair[0].add("x")

    threads = [threading.Thread(target=work, args=(pair,), daemon=True) for pair in [(a, b), (b, a)] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert a == b


def test_python_runs_while_a_large_array_is_added():
    seen, keys = Bloom(1_000_000, integers=True), np.arange(20_000_000)
    turns, done = 0, threading.Event()

    def add():
        seen.update(keys)
        done.set()

    started = time.perf_counter()
    threading.Thread(target=add).start()
    while not done.is_set():
        turns += 1
        time.sleep(0)
    # If the interpreter were held, this loop would have had no turn but the first and the last few.
    assert turns > 100 or time.perf_counter() - started < 0.01


def test_a_list_that_changes_meanwhile_is_no_danger():
    keys = [f"key {i}" for i in range(50_000)]
    seen, stop = Bloom(100_000), threading.Event()

    def change():
        while not stop.is_set():
            del keys[25_000:]
            keys.extend(f"other {i}" for i in range(25_000))

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(20):
        seen.update(keys)
    stop.set()
    thread.join()
    assert all(f"key {i}" in seen for i in range(25_000))


def test_asking_while_others_add():
    seen, stop, wrong = Bloom(2_000_000, integers=True), threading.Event(), []
    seen.update(np.arange(1000))

    def ask():
        while not stop.is_set():
            wrong.extend(key for key in range(1000) if key not in seen)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for part in range(20):
        seen.update(np.arange(part * 100_000, (part + 1) * 100_000))
        seen.add(part)
    stop.set()
    for thread in asking:
        thread.join()
    assert not wrong and seen.contains(np.arange(2_000_000)).all()


def test_a_filter_may_be_asked_by_what_fills_it():
    seen, words = Bloom(100), ["a", "b", "a", "c", "b"]
    added = []
    seen.update(added.append(word) or word for word in words if word not in seen)
    assert all(word in seen for word in words) and set(added) == {"a", "b", "c"}

import json
import os
import socket
import time

from cepbench.pipeline.beacon import Beacon, Signal


def wait_for(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_time_runs_only_inside_the_measured_part():
    with Beacon("127.0.0.1") as beacon:
        assert not beacon.started
        with Signal(beacon.address, os.getpid()):
            assert beacon.started
            time.sleep(0.1)
            assert 0.05 < beacon.longest() < 5
        assert wait_for(lambda: beacon.longest() == 0)
        assert [(worker.process, worker.host) for worker in beacon.workers()] == [(os.getpid(), socket.gethostname())]


def test_the_longest_running_worker_counts():
    with Beacon("127.0.0.1") as beacon, Signal(beacon.address, 1):
        time.sleep(0.2)
        with Signal(beacon.address, 2):
            assert beacon.longest() > 0.15
        assert beacon.longest() > 0.15
        assert [worker.process for worker in beacon.workers()] == [1, 2]


def test_a_worker_that_dies_is_no_longer_running():
    with Beacon("127.0.0.1") as beacon:
        signal = Signal(beacon.address, 1)
        signal.__enter__()
        assert signal._connection is not None
        signal._connection.close()  # as the system does for a killed process
        assert wait_for(lambda: beacon.longest() == 0)


def test_strangers_are_not_heard():
    with Beacon("127.0.0.1") as beacon:
        place = (beacon.address.host, beacon.address.port)
        for line in (b"hello\n", json.dumps({"token": "guess", "process": 1, "host": "h"}).encode() + b"\n", b"[]\n"):
            with socket.create_connection(place) as connection:
                connection.sendall(line)
                assert connection.recv(8) == b""
        assert not beacon.started
        assert beacon.workers() == []


def test_without_a_beacon_nothing_happens():
    with Signal(None, 1):
        pass

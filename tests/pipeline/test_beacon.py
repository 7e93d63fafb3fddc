import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from cepbench.pipeline.beacon import Beacon, Signal, _connected, _greeting, pulsing, start_pulse
from tests.pipeline.doubles import running


def wait_for(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_time_runs_only_inside_the_measured_part():
    with Beacon("127.0.0.1") as beacon:
        assert not beacon.workers()
        with running(beacon.address, os.getpid()):
            assert [worker.started for worker in beacon.workers()] == [True]
            time.sleep(0.1)
            assert 0.05 < beacon.longest() < 5
        assert wait_for(lambda: beacon.longest() == 0)
        assert [(worker.process, worker.host) for worker in beacon.workers()] == [(os.getpid(), socket.gethostname())]


def test_the_clock_of_a_worker_starts_again_on_its_connection():
    with Beacon("127.0.0.1") as beacon:
        signal = Signal(beacon.address, 1)
        for _ in range(3):
            with signal:
                time.sleep(0.1)
                assert 0.05 < beacon.longest() < 5
            assert wait_for(lambda: beacon.longest() == 0)
        assert len(beacon.workers()) == 1
        with signal:
            assert signal._connection is not None
            signal.close()  # as the system does for a process that is killed in a later part
            assert wait_for(lambda: beacon.longest() == 0)


def test_workers_wait_for_each_other_as_long_as_runs_take():
    """A time limit on the connection would end a cell whose workers take unlike times."""
    with Beacon("127.0.0.1") as beacon, closing(_connected(beacon.address, _greeting(beacon.address, 1))) as connection:
        assert connection.gettimeout() is None


def test_workers_meet():
    with (
        Beacon("127.0.0.1", workers=2) as beacon,
        ThreadPoolExecutor(1) as thread,
        closing(Signal(beacon.address, 1)) as first,
        closing(Signal(beacon.address, 2)) as second,
    ):
        with first:
            pass
        waiting = thread.submit(first.meet)
        with second:
            time.sleep(0.2)
            assert not waiting.done()
        assert wait_for(lambda: beacon.longest() == 0)
        assert second.meet()
        assert waiting.result(10)
        again = thread.submit(first.meet)
        time.sleep(0.2)
        assert not again.done()
        assert second.meet()
        assert again.result(10)
        with first:  # goes on after that
            assert wait_for(lambda: beacon.longest() > 0)


def test_workers_that_met_go_on_at_once():
    """What they wait for comes in between two looks of the driver, which are a second apart."""
    with (
        Beacon("127.0.0.1", workers=2) as beacon,
        ThreadPoolExecutor(1) as thread,
        closing(Signal(beacon.address, 1)) as first,
        closing(Signal(beacon.address, 2)) as second,
    ):
        waited = []
        for _ in range(3):
            waiting = thread.submit(first.meet)
            time.sleep(0.1)
            begin = time.monotonic()
            assert second.meet()
            assert waiting.result(10)
            waited.append(time.monotonic() - begin)
        assert min(waited) < 0.5


def test_a_worker_whose_clock_never_started_meets_the_others_too():
    with Beacon("127.0.0.1") as beacon, closing(Signal(beacon.address, 1)) as signal:
        assert signal.meet()
        assert wait_for(lambda: beacon.longest() == 0)


def test_who_waits_for_workers_that_do_not_live_goes_on_alone(monkeypatch):
    monkeypatch.setattr("cepbench.pipeline.beacon.MEET_SECONDS", 0.1)
    with Beacon("127.0.0.1", workers=2) as beacon, closing(Signal(beacon.address, 1)) as signal:
        assert not signal.meet()


def test_who_waits_when_the_job_ends_goes_on_alone():
    beacon = Beacon("127.0.0.1", workers=2)
    with ThreadPoolExecutor(1) as thread, closing(Signal(beacon.address, 1)) as signal:
        with beacon:
            waiting = thread.submit(signal.meet)
            assert wait_for(lambda: beacon.workers())
        assert not waiting.result(10)


def test_the_longest_running_worker_counts():
    with Beacon("127.0.0.1") as beacon, running(beacon.address, 1):
        time.sleep(0.2)
        with running(beacon.address, 2):
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


def test_strangers_are_ignored():
    with Beacon("127.0.0.1") as beacon:
        place = (beacon.address.host, beacon.address.port)
        for line in (b"hello\n", json.dumps({"token": "guess", "process": 1, "host": "h"}).encode() + b"\n", b"[]\n"):
            with socket.create_connection(place) as connection:
                connection.sendall(line)
                assert connection.recv(8) == b""
        assert beacon.workers() == []


def test_without_a_beacon_nothing_happens():
    with running(None, 1):
        pass


def test_a_pulse_reports_how_large_a_worker_is_and_ends_with_it():
    with Beacon("127.0.0.1") as beacon:
        with pulsing(beacon.address):
            assert wait_for(lambda: any(alive.resident for alive in beacon.workers()))
            assert beacon.living() == 1
            assert beacon.silent(5) is None
        assert wait_for(lambda: beacon.living() == 0)
        [alive] = beacon.workers()
        assert (alive.process, alive.host) == (os.getpid(), socket.gethostname())
        assert 10 * 2**20 < alive.resident < alive.machine
        assert not alive.started, "a pulse is no clock"


def test_a_stopped_worker_is_silent():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as worker:
        with Beacon("127.0.0.1") as beacon:
            greeting = {"token": beacon.address.token, "process": worker.pid, "host": "h", "machine": 2**40}
            helper = start_pulse(beacon.address, greeting, worker.pid)
            assert wait_for(lambda: beacon.living() == 1)
            assert beacon.silent(3) is None
            worker.send_signal(signal.SIGSTOP)
            assert wait_for(lambda: beacon.silent(3) is not None, 10)
            worker.send_signal(signal.SIGCONT)
            assert wait_for(lambda: beacon.silent(3) is None, 10)
            helper.stdin.close()
            helper.wait()
        worker.communicate(b"\n")


def test_who_is_silent_cannot_be_slow():
    with Beacon("127.0.0.1") as beacon:
        address, host = beacon.address, socket.gethostname()
        with socket.create_connection((address.host, address.port)) as connection:
            greeting = {"token": address.token, "process": 7, "host": host, "machine": 10}
            connection.sendall(json.dumps(greeting).encode() + b"\n" + b'{"resident": 1}\n')
            with running(address, 7):
                time.sleep(0.5)
                assert beacon.longest() > 0.4
                assert beacon.longest(patience=0.2) == 0
                connection.sendall(b'{"resident": 3}\n')
                assert wait_for(lambda: beacon.longest(patience=0.2) > 0.4)
        assert [alive.resident for alive in beacon.workers()] == [3]

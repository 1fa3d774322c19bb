"""Threads, tasks, forks and interrupts."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import cupel_context as cupel
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
REQUEST = json.loads((EXAMPLES / "support-chat.json").read_text(encoding="utf-8"))


def long_request(messages: int) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"Note {n}: " + f"the harbour of day {n % 97} was quiet. " * 40}
        for n in range(messages)
    ]


def test_eight_threads_share_an_engine() -> None:
    engine = cupel.Engine()
    budgets = list(range(700, 3_900, 100))
    alone = [engine.select(REQUEST, max_tokens=budget).kept for budget in budgets]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        together = list(
            threads.map(lambda budget: engine.select(REQUEST, max_tokens=budget).kept, budgets * 4)
        )
    assert together == alone * 4


def test_a_session_is_shared_without_harm() -> None:
    session = cupel.Session(cupel.Engine(max_tokens=2_000))

    def step(_: int) -> int:
        tokens = session.next(REQUEST).tokens
        session.accept()
        return tokens

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(tokens <= 2_000 for tokens in threads.map(step, range(32)))


def test_other_threads_run_while_the_engine_works() -> None:
    text = json.dumps(long_request(3_000))
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    ticker = threading.Thread(target=tick)
    ticker.start()
    began = time.perf_counter()
    cupel.select(text, max_tokens=20_000)
    took = time.perf_counter() - began
    done.set()
    ticker.join()
    within = sum(began <= moment <= began + took for moment in ticks)
    assert within >= 3, f"{within} ticks in {took:.3f} s"


def test_tasks_go_on_while_the_engine_works() -> None:
    async def main() -> list[list[int]]:
        engine = cupel.Engine(max_tokens=1_000)
        calls = (asyncio.to_thread(engine.select, REQUEST) for _ in range(8))
        return [selection.kept for selection in await asyncio.gather(*calls)]

    kept = asyncio.run(main())
    assert kept == [cupel.select(REQUEST, max_tokens=1_000).kept] * 8


def _in_child(engine: cupel.Engine, queue: Any) -> None:
    queue.put(engine.select(REQUEST, max_tokens=900).kept)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_an_engine_works_after_a_fork() -> None:
    engine = cupel.Engine()
    kept = engine.select(REQUEST, max_tokens=900).kept
    # Long work on a thread of its own is over by now, and none is inherited.
    cupel.select(json.dumps(long_request(300)), max_tokens=2_000)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(engine, queue))
    child.start()
    assert queue.get(timeout=60) == kept
    child.join(60)
    assert child.exitcode == 0
    assert engine.select(REQUEST, max_tokens=900).kept == kept


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_an_engine_works_after_a_fork_in_the_midst_of_work() -> None:
    """Children are forked while threads count with a vocabulary that is just being read."""
    program = textwrap.dedent(
        """
        import os, sys, threading
        import cupel_context as cupel
        engine = cupel.Engine(max_tokens=1_000, tokenizer="o200k_base")
        request = [{"role": "user", "content": f"Note {n}."} for n in range(200)]
        threads = [threading.Thread(target=engine.select, args=(request,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                kept = engine.select(request).kept
                os._exit(0 if kept and kept[-1] == 199 else 1)
            children.append(child)
        for thread in threads:
            thread.join()
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
        """
    )
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert ran.stdout.strip() == "[0, 0, 0, 0]", ran.stderr


def test_errors_cross_the_border_of_a_process() -> None:
    with pytest.raises(cupel.DoesNotFitError) as caught:
        cupel.select(REQUEST, max_tokens=10)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is cupel.DoesNotFitError
    assert (again.code, again.remedy, again.details) == (
        caught.value.code,
        caught.value.remedy,
        caught.value.details,
    )
    assert again.details["parts"]


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_ends_a_long_call_and_loses_nothing() -> None:
    program = textwrap.dedent(
        """
        import json, signal, time
        import cupel_context as cupel
        # Whoever runs tests in the background may have told them to pass over Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        notes = [{"role": "user", "content": f"Note {n}: " + f"day {n % 97} at sea {n}. " * 60} for n in range(20_000)]
        text = json.dumps(notes)
        engine = cupel.Engine(max_tokens=100_000)
        session = engine.session()
        print("ready", flush=True)
        began = time.perf_counter()
        try:
            session.next(text)
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        took = time.perf_counter() - began
        assert session.dumps() == "null" and not session.accept()
        small = [{"role": "user", "content": "still here"}]
        print(engine.select(small).kept, flush=True)
        print(took, flush=True)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    lines = out.splitlines()
    assert lines[:2] == ["interrupted", "[0]"], (out, err)
    assert float(lines[2]) < 1.5
    assert child.returncode == 0, err


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_after_ctrl_c_python_code_is_called_no_more() -> None:
    program = textwrap.dedent(
        """
        import signal, time
        from cupel_context import Budget, Item, Pipeline
        signal.signal(signal.SIGINT, signal.default_int_handler)
        calls = []
        def slow(item, all_items):
            calls.append(item)
            if len(calls) == 3:
                print("ready", flush=True)
            time.sleep(0.01)
            return 1.0
        try:
            Pipeline(slow).run([Item(str(n), 1) for n in range(5_000)], Budget(9))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        time.sleep(0.2)
        before = len(calls)
        time.sleep(0.3)
        print(len(calls) - before, before < 5_000, flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out.splitlines() == ["interrupted", "0 True"]


def test_the_conversion_of_a_huge_value_can_be_interrupted() -> None:
    program = textwrap.dedent(
        """
        import signal
        import cupel_context as cupel
        signal.signal(signal.SIGINT, signal.default_int_handler)
        value = ["x"]
        for _ in range(40):
            value = [value, value]
        print("ready", flush=True)
        try:
            cupel.select(value, max_tokens=10)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        except cupel.CupelError as error:
            print(error.code, flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out.strip() == "interrupted"

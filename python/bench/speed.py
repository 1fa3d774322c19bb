"""How long `select` takes on a list of 200 dicts, beside the engine alone and what others do.

    python bench/speed.py               makes .venvs/bench and measures there

The fastest of many rounds counts, interleaved, since other work only ever makes a round slower. Import
and wheel are measured too. What matters are the ratios; times are those of one machine.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 40


def messages(count: int) -> list[dict[str, Any]]:
    """Talk and tools, as an agent of a shop sends them."""
    source = json.loads((HERE.parent / "examples" / "support-chat.json").read_text(encoding="utf-8"))
    texts = [
        one["content"] if isinstance(one["content"], str) else one["content"][0]["text"]
        for one in source["input"]
        if "content" in one
    ]
    made: list[dict[str, Any]] = []
    for at in range(count):
        text = f"{texts[at % len(texts)]} ({at})"
        if at % 4 == 1:
            call = {"name": "find_order", "arguments": json.dumps({"order": f"A-{at}"})}
            asked = [{"id": f"c{at}", "type": "function", "function": call}]
            made.append({"role": "assistant", "content": "", "tool_calls": asked})
        elif at % 4 == 2:
            result = json.dumps({"order": f"A-{at}", "status": "shipped", "note": text})
            made.append({"role": "tool", "tool_call_id": f"c{at - 1}", "content": result})
        else:
            made.append({"role": "user" if at % 4 == 0 else "assistant", "content": text})
    return made


def fastest(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The fastest round of each, in milliseconds."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            best[name] = min(best[name], (time.perf_counter() - began) * 1e3)
    return best


def engine_alone(file: Path, budget: int) -> float:
    command = ["cargo", "run", "--quiet", "--release", "--example", "engine_time", "--"]
    ran = subprocess.run(
        [*command, str(file), str(budget), str(ROUNDS)], cwd=HERE, capture_output=True, text=True
    )
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return float(ran.stdout.split()[0])


def import_time() -> float:
    """The fastest of ten imports, in milliseconds, each in a process of its own."""
    program = "import time; t = time.perf_counter(); import cupel_context as cupel; print((time.perf_counter() - t) * 1e3)"
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in range(10)
    ]
    return min(float(ran.stdout) for ran in runs)


def measure() -> None:
    import cupel_context as cupel
    import litellm
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
    from litellm.utils import trim_messages as litellm_trim

    given = messages(200)
    budget = cupel.count(given)["total_tokens"] // 2
    engine = cupel.Engine(max_tokens=budget)
    stored = convert_to_messages(given)

    def exact(some: Any) -> int:
        return litellm.token_counter(model="gpt-4o", messages=convert_to_openai_messages(some))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "request.json"
        file.write_text(json.dumps(given, separators=(",", ":")), encoding="utf-8")
        alone = engine_alone(file, budget)
        best = fastest(
            {
                "`cupel.Engine.select`, 200 dicts": lambda: engine.select(given).messages,
                "`cupel.Engine.select`, 200 LangChain messages": lambda: engine.select(stored).messages,
                "LangChain `trim_messages`, estimated counts": lambda: trim_messages(
                    stored, max_tokens=budget, token_counter="approximate", start_on="human"
                ),
                "LiteLLM `trim_messages`": lambda: litellm_trim(
                    list(given), model="gpt-4o", max_tokens=budget
                ),
            }
        )
        alone = min(alone, engine_alone(file, budget))
    slow = fastest_once(
        lambda: trim_messages(stored, max_tokens=budget, token_counter=exact, start_on="human")
    )
    best["LangChain `trim_messages`, exact counts"] = slow
    releases = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("langchain-core", "litellm")
    )
    print(
        f"200 messages, {budget:,} of {cupel.count(given)['total_tokens']:,} tokens, exact counts; {releases}"
    )
    print("| what | ms | ÷ the engine alone |\n|---|---:|---:|")
    print(f"| the engine alone, on the same text in Rust | {alone:.2f} | 1.00 |")
    for name, took in best.items():
        print(f"| {name} | {took:.2f} | {took / alone:.2f} |")
    print(f"\nimport: {import_time():.1f} ms")
    for wheel in (HERE / "dist").glob("*.whl"):
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


def fastest_once(way: Callable[[], Any]) -> float:
    """Of three rounds, for what takes seconds."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        way()
        times.append((time.perf_counter() - began) * 1e3)
    return min(times)


def main() -> None:
    if "--here" in sys.argv:
        measure()
        return
    venv, uv = HERE / ".venvs" / "bench", HERE / ".venvs" / "tools" / "bin" / "uv"
    if not uv.exists():
        sys.exit("run `python/test --only fetch core` first: it fetches uv and maturin")
    python, dist = str(venv / "bin" / "python"), HERE / "dist" / "bench"
    # The wheel of the tests is compiled for those, not for speed.
    maturin = [str(uv.with_name("maturin")), "build", "--profile", "pip", "--locked", "--out", str(dist)]
    subprocess.run(maturin, check=True, cwd=HERE)
    wheel = next(dist.glob("*.whl"))
    lock = HERE.parent / "requirements" / "bench-speed.txt"
    variables = {**os.environ, "UV_CACHE_DIR": str(HERE / ".venvs" / "cache")}
    for command in (
        [str(uv), "venv", "-q", "--allow-existing", str(venv)],
        [str(uv), "pip", "sync", "-q", "--python", python, "--require-hashes", str(lock)],
        [str(uv), "pip", "install", "-q", "--python", python, "--reinstall", "--no-deps", str(wheel)],
    ):
        subprocess.run(command, check=True, env=variables)
    subprocess.run([python, __file__, "--here"], check=True)


if __name__ == "__main__":
    main()

"""What the frameworks' own trimming does to a run of an agent, beside Cupel: figures for BUILTINS.md.

    python bench/builtins.py            asks each environment below .venvs, and writes BUILTINS.md
    python bench/builtins.py --check    fails if the same releases give other figures
    python bench/builtins.py --rows     the rows of this environment alone, as JSON

The run is that of the adapters' tests: sixty steps with tools, ten budgets, at every step one window.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
PAGE = HERE / "BUILTINS.md"
sys.path.insert(0, str(HERE / "tests" / "adapters"))

from story import BUDGETS, QUESTION, STEPS, SYSTEM, Sent, calls, look_up, unpaired  # noqa: E402

Messages = list[dict[str, Any]]
Trim = Callable[[Messages, int], Messages]

AFTER = range(3, STEPS + 1, 3)
"""The steps after which the history is trimmed."""

ENVIRONMENTS = ["langchain", "litellm", "llama_index", "haystack", "agent_framework"]


def history(steps: int) -> Messages:
    """The run after so many steps, as OpenAI Chat has it: a call has no content."""
    messages: Messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    for step in range(steps):
        asked = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": json.dumps(one.arguments)},
            }
            for one in calls(step)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        for one in calls(step):
            messages.append({"role": "tool", "tool_call_id": one.id, "content": look_up(**one.arguments)})
    return messages


def sent(messages: Messages) -> list[Sent]:
    return [
        Sent(
            one["role"],
            [call["id"] for call in one.get("tool_calls") or []],
            [one["tool_call_id"]] if one["role"] == "tool" else [],
        )
        for one in messages
    ]


def counter() -> Callable[[Messages], int]:
    """What messages cost, valid or not: their texts, names and arguments, and four a message."""
    import cupel_context as cupel

    engine = cupel.Engine(tokenizer="o200k_base")
    known: dict[str, int] = {}

    def of_text(text: str) -> int:
        if text not in known:
            known[text] = engine.count_texts([text])["total_tokens"]
        return known[text]

    def of_message(message: dict[str, Any]) -> int:
        tokens = 4 + of_text(message["content"] or "")
        for call in message.get("tool_calls") or []:
            arguments = json.loads(call["function"]["arguments"])
            tokens += of_text(call["function"]["name"])
            tokens += of_text(json.dumps(arguments, separators=(",", ":")))
        return tokens

    return lambda messages: sum(map(of_message, messages))


def judged(name: str, release: str, trim: Trim) -> dict[str, Any]:
    """How often a window would be refused, is too large, or lacks what the next call needs."""
    count = counter()
    row: dict[str, Any] = {
        "name": name,
        "release": release,
        "windows": 0,
        "raised": 0,
        "refused": 0,
        "over": 0,
        "without": 0,
    }
    for steps in AFTER:
        for budget in BUDGETS[:-1]:
            row["windows"] += 1
            try:
                window = trim(history(steps), budget)
            except Exception:
                row["raised"] += 1
                continue
            row["refused"] += unpaired(sent(window)) is not None
            row["over"] += count(window) > budget
            newest = {one.id for one in calls(steps - 1)}
            has_question = any(one["role"] == "user" and one["content"] == QUESTION for one in window)
            if not has_question or not newest <= {answer for one in sent(window) for answer in one.answers}:
                row["without"] += 1
    return row


def of_langchain() -> list[tuple[str, Trim]]:
    from cupel_context.langchain import trim
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

    count = counter()

    def exact(messages: Any) -> int:
        return count(convert_to_openai_messages(messages))  # type: ignore[arg-type]

    def built_in(**options: Any) -> Trim:
        def trimmed(messages: Messages, budget: int) -> Messages:
            given = convert_to_messages([{**one, "content": one["content"] or ""} for one in messages])
            kept = trim_messages(given, max_tokens=budget, token_counter=exact, **options)
            return convert_to_openai_messages(kept)  # type: ignore[return-value]

        return trimmed

    def ours(messages: Messages, budget: int) -> Messages:
        given = convert_to_messages([{**one, "content": one["content"] or ""} for one in messages])
        return convert_to_openai_messages(trim(given, max_tokens=budget))  # type: ignore[return-value]

    return [
        ("`trim_messages`, as it comes", built_in()),
        ("`trim_messages(include_system=True)`", built_in(include_system=True)),
        (
            '`trim_messages(include_system=True, start_on="human")`',
            built_in(include_system=True, start_on="human"),
        ),
        ("`cupel_context.langchain.trim`", ours),
    ]


def of_litellm() -> list[tuple[str, Trim]]:
    import litellm
    from cupel_context.litellm import CupelHook
    from litellm.utils import trim_messages

    litellm.suppress_debug_info = True

    def built_in(messages: Messages, budget: int) -> Messages:
        return list(trim_messages(messages, model="gpt-4o", max_tokens=budget))

    def compress(messages: Messages, budget: int) -> Messages:
        made = litellm.compress(
            messages=messages, model="gpt-4o", compression_trigger=budget, compression_target=budget
        )
        return list(made["messages"])

    def ours(messages: Messages, budget: int) -> Messages:
        return list(CupelHook(budget).fit({"messages": messages})["messages"])

    return [("`trim_messages`", built_in), ("`compress`", compress), ("`cupel_context.litellm.CupelHook`", ours)]


def of_llama_index() -> list[tuple[str, Trim]]:
    import cupel_context as cupel
    from cupel_context.llama_index import CupelMemory
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    engine = cupel.Engine()

    def tokens(text: str) -> list[int]:
        return [0] * engine.count_texts([text])["total_tokens"]

    def with_memory(make: Callable[[int], Any]) -> Trim:
        def trimmed(messages: Messages, budget: int) -> Messages:
            memory = make(budget)
            for at, one in enumerate(messages):
                extra = {name: one[name] for name in ("tool_calls", "tool_call_id") if name in one}
                memory.put(
                    ChatMessage(
                        role=one["role"], content=one["content"] or "", additional_kwargs={**extra, "at": at}
                    )
                )
            return [messages[one.additional_kwargs["at"]] for one in memory.get()]

        return trimmed

    return [
        (
            "`ChatMemoryBuffer`",
            with_memory(
                lambda budget: ChatMemoryBuffer.from_defaults(token_limit=budget, tokenizer_fn=tokens)
            ),
        ),
        (
            "`cupel_context.llama_index.CupelMemory`",
            with_memory(lambda budget: CupelMemory.from_defaults(max_tokens=budget)),
        ),
    ]


def of_haystack() -> list[tuple[str, Trim]]:
    from cupel_context.haystack import CupelCompactor
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.hooks.compaction import SlidingWindowCompactor

    def plain(message: ChatMessage) -> dict[str, Any]:
        if message.tool_call_results:
            result = message.tool_call_results[0]
            return {"role": "tool", "tool_call_id": result.origin.id, "content": result.result}
        asked = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.tool_name, "arguments": json.dumps(one.arguments)},
            }
            for one in message.tool_calls
        ]
        text = {"role": message.role.value, "content": message.text if not asked else None}
        return {**text, "tool_calls": asked} if asked else text

    counted = counter()

    class Exact:
        def count(self, messages: list[ChatMessage], tools: Any = None) -> int:
            return counted([plain(one) for one in messages])

    def with_compactor(compactor: Any) -> Trim:
        def trimmed(messages: Messages, budget: int) -> Messages:
            given: list[ChatMessage] = []
            origins: dict[str, ToolCall] = {}
            for one in messages:
                if one["role"] == "tool":
                    given.append(ChatMessage.from_tool(one["content"], origin=origins[one["tool_call_id"]]))
                elif one.get("tool_calls"):
                    asked = [
                        ToolCall(
                            call["function"]["name"], json.loads(call["function"]["arguments"]), id=call["id"]
                        )
                        for call in one["tool_calls"]
                    ]
                    origins.update({call.id or "": call for call in asked})
                    given.append(ChatMessage.from_assistant(tool_calls=asked))
                elif one["role"] == "system":
                    given.append(ChatMessage.from_system(one["content"]))
                else:
                    given.append(ChatMessage.from_user(one["content"]))
            kept = compactor.compact(given, budget, Exact())
            return [plain(one) for one in (given if kept is None else kept)]

        return trimmed

    return [
        ("`SlidingWindowCompactor`", with_compactor(SlidingWindowCompactor())),
        ("`cupel_context.haystack.CupelCompactor`", with_compactor(CupelCompactor())),
    ]


def of_agent_framework() -> list[tuple[str, Trim]]:
    import asyncio

    import cupel_context as cupel
    from agent_framework import (
        Content,
        Message,
        SlidingWindowStrategy,
        TokenBudgetComposedStrategy,
        annotate_message_groups,
        included_messages,
    )
    from cupel_context.agent_framework import CupelStrategy

    engine = cupel.Engine()

    class Exact:
        def count_tokens(self, text: str) -> int:
            return engine.count_texts([text])["total_tokens"]

    def with_strategy(make: Callable[[int], Any]) -> Trim:
        def trimmed(messages: Messages, budget: int) -> Messages:
            given = []
            for at, one in enumerate(messages):
                contents: list[Any] = [one["content"]] if one["content"] and one["role"] != "tool" else []
                contents += [
                    Content.from_function_call(
                        call["id"], call["function"]["name"], arguments=call["function"]["arguments"]
                    )
                    for call in one.get("tool_calls") or []
                ]
                if one["role"] == "tool":
                    contents.append(Content.from_function_result(one["tool_call_id"], result=one["content"]))
                given.append(Message(one["role"], contents, additional_properties={"at": at}))
            annotate_message_groups(given, tokenizer=Exact())
            asyncio.run(make(budget)(given))
            return [messages[one.additional_properties["at"]] for one in included_messages(given)]

        return trimmed

    def composed(budget: int) -> Any:
        return TokenBudgetComposedStrategy(
            token_budget=budget, tokenizer=Exact(), strategies=[SlidingWindowStrategy(keep_last_groups=20)]
        )

    return [
        ("`TokenBudgetComposedStrategy`", with_strategy(composed)),
        ("`cupel_context.agent_framework.CupelStrategy`", with_strategy(CupelStrategy)),
    ]


SOURCES: dict[str, tuple[str, Callable[[], list[tuple[str, Trim]]]]] = {
    "langchain": ("langchain-core", of_langchain),
    "litellm": ("litellm", of_litellm),
    "llama_index": ("llama-index-core", of_llama_index),
    "haystack": ("haystack-ai", of_haystack),
    "agent_framework": ("agent-framework-core", of_agent_framework),
}


def rows(name: str) -> list[dict[str, Any]]:
    package, methods = SOURCES[name]
    logging.disable(logging.CRITICAL)
    release = f"{package} {importlib.metadata.version(package)}"
    return [judged(method, release, trim) for method, trim in methods()]


def page(found: list[dict[str, Any]]) -> str:
    lines = [
        "# What the frameworks' own trimming does, beside Cupel",
        "",
        f"One run of an agent: a question, then {STEPS} steps with tools, at every fifth two calls at once. After every third step the history is",
        f"trimmed to each of {len(BUDGETS) - 1} budgets from {BUDGETS[0]:,} to {BUDGETS[-2]:,} tokens: {len(AFTER) * (len(BUDGETS) - 1)} windows a row. Counts are those of o200k_base, and",
        "four a message, for all. Written by `python bench/builtins.py`; the judge of validity shares no code with Cupel",
        "(`tests/adapters/story.py`).",
        "",
        "- **refused**: a result without its call, or a call without its result: every provider answers 400;",
        "- **over**: more tokens than the budget;",
        "- **without**: the question or the newest results are missing, so that the agent cannot go on;",
        "- **raised**: an exception instead of a window.",
        "",
        "| release | way to trim | refused | over | without | raised |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in found:
        figures = " | ".join(str(row[one]) for one in ("refused", "over", "without", "raised"))
        lines.append(f"| {row['release']} | {row['name']} | {figures} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if sys.argv[1:2] == ["--rows"]:
        print(json.dumps(rows(sys.argv[2])))
        return
    found: list[dict[str, Any]] = []
    for name in ENVIRONMENTS:
        command = [HERE / ".venvs" / name / "bin" / "python", __file__, "--rows", name]
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"{name}: {ran.stderr}")
        found += json.loads(ran.stdout.splitlines()[-1])
    made = page(found)
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(made, encoding="utf-8")
        print(made)
        return
    written = PAGE.read_text(encoding="utf-8")
    told = dict(line.split(" | ", 1) for line in written.splitlines() if line.startswith("| "))
    for line in made.splitlines():
        release = line.split(" | ", 1)[0]
        if line.startswith("| ") and release in told and line not in written:
            sys.exit(f"BUILTINS.md does not say:\n{line}\nrun bench/builtins.py")


if __name__ == "__main__":
    main()

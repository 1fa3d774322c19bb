"""Microsoft Agent Framework: a compaction strategy that says of every message why it went.

from agent_framework import Agent
from cupel.agent_framework import CupelStrategy

agent = Agent(client, compaction_strategy=CupelStrategy(max_tokens=32_000))
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from agent_framework import Message, included_messages
from agent_framework._compaction import set_excluded

from . import _explain
from ._engine import Engine
from ._flat import Flat
from ._settings import Pin, Policy

__all__ = ["CupelStrategy"]


class CupelStrategy:
    """Excludes what does not fit; each message says why, and none is lost.

    What an earlier run excluded stays so. There is no id of a conversation in a strategy, so that
    each window is chosen by itself.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        *,
        policy: Policy = "auto",
        model: str | None = None,
        output_reserve: int | None = None,
        pins: Iterable[Pin] = (),
        tokenizer: str | None = None,
        engine: Engine | None = None,
    ) -> None:
        self._engine = engine or Engine(
            policy=policy,
            model=model,
            max_tokens=max_tokens,
            output_reserve=output_reserve,
            pins=pins,
            tokenizer=tokenizer,
            format="openai-chat",
        )

    async def __call__(self, messages: list[Message]) -> bool:
        """Excludes what does not fit; ``True`` if anything changed."""
        left = included_messages(messages)
        if not left:
            return False
        reasons = await asyncio.to_thread(self._reasons, left)
        changed = False
        for message, reason in zip(left, reasons):
            if reason is not None:
                changed = set_excluded(message, excluded=True, reason=reason) or changed
        return changed

    def _reasons(self, messages: list[Message]) -> list[str | None]:
        """Why each message is out, if it is."""
        flat = Flat()
        for at, message in enumerate(messages):
            _flatten(flat, at, message)
        selection = self._engine.select(flat.messages, shorten="off")
        if len(selection.kept) == len(flat.messages):
            return [None] * len(messages)
        reasons: list[str | None] = [None] * len(messages)
        for out in selection.explanation()["left_out"]:
            text = f"cupel: {_explain.why(out['why'])}, {_explain.to_get_in(out['to_get_in'])}"
            for owner in flat.owners(out["part"]["messages"]):
                reasons[owner] = text
        return reasons


def _flatten(flat: Flat, at: int, message: Message) -> None:
    calls, texts = [], []
    for content in message.contents:
        if content.type == "function_call":
            arguments = content.arguments if content.arguments is not None else {}
            calls.append(flat.call(content.name or "", arguments, content.call_id or ""))
        elif content.type == "function_result":
            result = content.result
            text = result if isinstance(result, str) else str(result)
            flat.add(at, {"role": "tool", "tool_call_id": content.call_id or "", "content": text})
        elif getattr(content, "text", None):
            texts.append(content.text)
    if not calls and not texts and message.role == "tool":
        return
    text = "\n".join(str(text) for text in texts)
    plain: dict[str, Any] = {"role": str(message.role), "content": text}
    if calls:
        plain["tool_calls"] = calls
    flat.add(at, plain)

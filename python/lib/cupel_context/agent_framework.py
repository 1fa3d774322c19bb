"""Microsoft Agent Framework: a compaction strategy that says of every message why it went.

from agent_framework import Agent
from cupel_context.agent_framework import CupelStrategy

strategy = CupelStrategy(max_tokens=32_000, client=client, tools=tools, instructions=prompt)
agent = Agent(client, tools=tools, instructions=prompt, compaction_strategy=strategy)
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agent_framework import Content, FunctionTool, Message, included_messages, normalize_tools
from agent_framework._compaction import set_excluded

from . import _explain
from ._engine import Selection
from ._errors import CupelError
from ._flat import Flat, content, media, text, tool
from ._sessions import WindowOptions, fitter

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelStrategy"]


class CupelStrategy:
    """Excludes what does not fit; each message says why, and none is lost.

    What an earlier run excluded stays so. There is no id of a conversation in a strategy, so that
    each window is chosen by itself. It sees neither the model nor the tools, and the instructions only at
    times: give it the ``client``, the ``tools`` and the ``instructions``, so that they are counted.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        *,
        client: Any = None,
        tools: Any = (),
        instructions: str | None = None,
        **options: Unpack[WindowOptions],
    ) -> None:
        if client is not None and "model" not in options:
            options["model"] = _model(client)
        self._instructions = instructions
        self._tools = [_tool(one) for one in normalize_tools(tools)]
        if options.get("summarize") is not None:
            rule = "a strategy of Agent Framework only leaves out; it has summaries of its own"
            raise CupelError(f"summarize: {rule}", path="summarize", rule=rule)
        # Each window is chosen by itself, since it has to say why.
        self._fitter = fitter(max_tokens, {**options, "sessions": False}, format="openai-chat")

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
        if self._instructions and not any(one.text == self._instructions for one in messages):
            flat.add(-1, {"role": "system", "content": self._instructions})
        for at, message in enumerate(messages):
            _flatten(flat, at, message)
        request = {"messages": flat.messages, **({"tools": self._tools} if self._tools else {})}
        selection = self._fitter.window(request, shorten="off")
        assert isinstance(selection, Selection)
        if len(selection.kept) == len(flat.messages):
            return [None] * len(messages)
        reasons: list[str | None] = [None] * len(messages)
        for out in selection.explanation()["left_out"]:
            text = f"cupel: {_explain.why(out['why'])}, {_explain.to_get_in(out['to_get_in'])}"
            # The instructions, which stand before all messages, are never left out.
            for owner in flat.owners(out["part"]["messages"]):
                reasons[owner] = text
        return reasons


def _model(client: Any) -> str | None:
    """The name of the model that a chat client calls."""
    told = (getattr(client, name, None) for name in ("model", "model_id", "deployment_name"))
    return next((name for name in told if isinstance(name, str) and name), None)


def _tool(given: Any) -> dict[str, Any]:
    """A tool as it is sent."""
    return tool(given.to_json_schema_spec() if isinstance(given, FunctionTool) else given)


def _flatten(flat: Flat, at: int, message: Message) -> None:
    calls, blocks = [], []
    for part in message.contents:
        if part.type == "function_call":
            arguments = part.arguments if part.arguments is not None else {}
            calls.append(flat.call(part.name or "", arguments, part.call_id or ""))
        elif part.type == "function_result":
            told = [block for item in part.items or () for block in _blocks(item)]
            told = told or [text(part.result if isinstance(part.result, str) else str(part.result))]
            flat.add(at, {"role": "tool", "tool_call_id": part.call_id or "", "content": content(told)})
        else:
            blocks.extend(_blocks(part))
    if not calls and not blocks and message.role == "tool":
        return
    plain: dict[str, Any] = {"role": str(message.role), "content": content(blocks)}
    if message.author_name:
        # The name of whoever speaks is sent beside the words.
        plain["name"] = message.author_name
    if calls:
        plain["tool_calls"] = calls
    flat.add(at, plain)


def _blocks(part: Content) -> list[dict[str, Any]]:
    """Text of a part for the model: a text, a picture or a file; all fields of any other."""
    if part.type == "usage":
        return []
    if part.type in ("text", "text_reasoning"):
        return [text(part.text)] if part.text else []
    if part.type in ("data", "uri"):
        return [media(part.media_type, url=part.uri)]
    if part.type == "hosted_file":
        return [media(part.media_type, url=part.file_id)]
    return [text(json.dumps(part.to_dict(), default=str))]

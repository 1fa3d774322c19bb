"""pydantic-ai: what is sent fits, and the history of the run stays whole.

from pydantic_ai import Agent
from cupel_context.pydantic_ai import CupelWindow

agent = Agent("openai:gpt-4o", capabilities=[CupelWindow(max_tokens=32_000)])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext

from ._flat import Flat, content, media, text, tool
from ._sessions import WindowOptions, fitter
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelWindow"]


class CupelWindow(AbstractCapability[Any]):
    """Sends what fits: the instructions, the tools and the best of the history.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. A conversation is a
    session, whose windows keep the provider's cache. Where only some parts of a message stay, as a question
    without the results before it, a copy with these is sent.

    Tools that the provider hosts are not counted: leave room for them.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        # Messages are counted as those of OpenAI, whoever gets them; calls cost more as items of Responses.
        self._chat = fitter(max_tokens, options, format="openai-chat")
        self._responses = fitter(max_tokens, options, format="openai-responses")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Changes what is sent."""
        messages = await in_thread(self._fitting, ctx, request_context)
        if messages is None:
            return request_context
        return dataclasses.replace(request_context, messages=messages)

    def _fitting(self, ctx: RunContext[Any], context: ModelRequestContext) -> list[ModelMessage] | None:
        """The messages that fit, unless all do."""
        told = context.model_request_parameters.instruction_parts or ()
        flat, pieces = _flat(context.messages, "\n\n".join(part.content for part in told))
        conversation = ctx.conversation_id or ctx.run_id
        # Agents that call one another may share a conversation.
        agent = None if ctx.agent is None else ctx.agent.name
        key = None if conversation is None else (conversation, agent)
        fits = self._chat
        if _sends_items(context.model):
            flat, fits = flat.as_items(), self._responses
        kept = flat.kept(fits, key, **_head(context))
        if all(at in kept for at in range(len(pieces))):
            return None
        return _messages(context.messages, pieces, kept)


def _messages(own: Sequence[ModelMessage], pieces: _Pieces, kept: Sequence[int | str]) -> list[ModelMessage]:
    """The messages of the parts that stay, and summaries among them."""
    stay: dict[int, list[Any]] = {at: [] for at, one in enumerate(own) if not one.parts}
    before: dict[int, list[str]] = {}
    words: list[str] = []
    last = -1
    for piece in kept:
        if isinstance(piece, str):
            words.append(piece)
        elif piece > last:
            # Calls of one answer may be items of their own.
            last = piece
            owner, parts = pieces[piece]
            before.setdefault(owner, []).extend(words)
            words = []
            stay.setdefault(owner, []).extend(parts)
    left: list[ModelMessage] = []
    for at in sorted(stay):
        left += [ModelRequest([UserPromptPart(one)]) for one in before.get(at, ())]
        left.append(own[at] if len(stay[at]) == len(own[at].parts) else _with(own[at], stay[at]))
    return left


def _with(message: Any, parts: list[Any]) -> ModelMessage:
    copied: ModelMessage = dataclasses.replace(message, parts=parts)
    return copied


def _sends_items(model: Any) -> bool:
    """Whether a model sends items of OpenAI Responses."""
    while hasattr(model, "wrapped"):
        model = model.wrapped
    return any("Responses" in kind.__name__ for kind in type(model).__mro__)


def _head(context: ModelRequestContext) -> dict[str, Any]:
    """What is sent beside the messages."""
    parameters = context.model_request_parameters
    head: dict[str, Any] = {"model": context.model.model_name}
    if tools := [
        tool({"name": one.name, "description": one.description, "parameters": one.parameters_json_schema})
        for one in (*parameters.function_tools, *parameters.output_tools)
    ]:
        head["tools"] = tools
    if parameters.output_mode == "native" and parameters.output_object is not None:
        schema = {"name": "final_result", "schema": parameters.output_object.json_schema}
        head["response_format"] = {"type": "json_schema", "json_schema": schema}
    most = (context.model_settings or {}).get("max_tokens")
    return head if most is None else {**head, "max_tokens": most}


_Pieces = list[tuple[int, list[Any]]]
"""Parts that are in or out together, with the index of their message."""


def _flat(messages: Sequence[ModelMessage], instructions: str) -> tuple[Flat, _Pieces]:
    """An answer is in or out as it is; of what is asked each part is, and results stay with their calls."""
    flat = Flat()
    pieces: _Pieces = []
    if instructions:
        flat.add(-1, {"role": "system", "content": instructions})
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            flat.add(len(pieces), _answered(flat, message))
            pieces.append((at, list(message.parts)))
            continue
        # Results come first in what answers a call, as pydantic-ai sends them.
        for part in sorted(message.parts, key=lambda part: not _is_result(part)):
            flat.add(len(pieces), _asked(part))
            pieces.append((at, [part]))
    return flat, pieces


def _is_result(part: Any) -> bool:
    return isinstance(part, ToolReturnPart) or (
        isinstance(part, RetryPromptPart) and part.tool_name is not None
    )


def _answered(flat: Flat, message: ModelResponse) -> dict[str, Any]:
    """What the model said, with its calls."""
    calls, blocks = [], []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            calls.append(flat.call(part.tool_name, part.args_as_json_str(), part.tool_call_id))
        elif isinstance(part, (TextPart, ThinkingPart)):
            blocks.append(text(part.content))
        elif isinstance(part, FilePart):
            blocks.append(_content(part.content))
        else:
            blocks.append(text(str(getattr(part, "content", part))))
    plain: dict[str, Any] = {"role": "assistant", "content": content(blocks)}
    return {**plain, "tool_calls": calls} if calls else plain


def _asked(part: Any) -> dict[str, Any]:
    """A part of what is sent to the model."""
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        given = part.content
        blocks = [text(given)] if isinstance(given, str) else [_content(one) for one in given]
        return {"role": "user", "content": content(blocks)}
    if isinstance(part, ToolReturnPart):
        files = map(_content, part.files)
        told = content([text(part.model_response_str()), *files])
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": told}
    if isinstance(part, RetryPromptPart):
        why = part.model_response()
        if not _is_result(part):
            return {"role": "user", "content": why}
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": why}
    return {"role": "user", "content": str(getattr(part, "content", part))}


def _content(given: Any) -> dict[str, Any]:
    if isinstance(given, BinaryContent):
        return media(given.media_type, data=given.data)
    if isinstance(given, FileUrl):
        return media(given.media_type, url=given.url)
    if isinstance(given, UploadedFile):
        return media(given.media_type, url=given.file_id)
    return text(given.content if isinstance(given, TextContent) else str(given))

"""pydantic-ai: what is sent fits, and the history of the run stays whole.

from pydantic_ai import Agent
from cupel_context.pydantic_ai import CupelWindow

agent = Agent("openai:gpt-4o", capabilities=[CupelWindow(max_tokens=32_000)])
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from typing import TYPE_CHECKING, Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    FileUrl,
    ModelMessage,
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

from ._flat import text
from ._sessions import WindowOptions, fitter

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelWindow"]


class CupelWindow(AbstractCapability[Any]):
    """Sends what fits: the instructions, the tools and the best of the history.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. A conversation is a
    session, whose windows keep the provider's cache.

    Tools that the provider hosts are not counted: leave room for them.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        # Its messages hold calls and results as Anthropic's do, whoever gets them.
        self._fitter = fitter(max_tokens, options, format="anthropic")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Changes what is sent."""
        messages = request_context.messages
        kept = await asyncio.to_thread(self._kept, ctx, request_context)
        if len(kept) == len(messages):
            return request_context
        return dataclasses.replace(request_context, messages=[messages[at] for at in kept])

    def _kept(self, ctx: RunContext[Any], context: ModelRequestContext) -> list[int]:
        parameters = context.model_request_parameters
        request = {
            "model": context.model.model_name,
            "system": "\n\n".join(part.content for part in parameters.instruction_parts or ()),
            "messages": [_message(message) for message in context.messages],
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description or "",
                    "input_schema": tool.parameters_json_schema,
                }
                for tool in (*parameters.function_tools, *parameters.output_tools)
            ],
        }
        request = {name: value for name, value in request.items() if value}
        # System prompts stand in the first message of a turn, which then must stay.
        prompts = [at for at, one in enumerate(context.messages) if _has_system_prompt(one)]
        conversation = ctx.conversation_id or ctx.run_id
        # Agents that call one another may share a conversation.
        agent = None if ctx.agent is None else ctx.agent.name
        key = None if conversation is None else (conversation, agent)
        # Its own messages are in or out as they are.
        return self._fitter.window(request, key, pins=prompts, shorten="off").kept


def _has_system_prompt(message: ModelMessage) -> bool:
    return any(isinstance(part, SystemPromptPart) for part in message.parts)


def _message(message: ModelMessage) -> dict[str, Any]:
    if isinstance(message, ModelResponse):
        blocks = [_answered(part) for part in message.parts]
        role = "assistant"
    else:
        blocks = [block for part in message.parts for block in _asked(part)]
        # Results come first in what answers a call.
        blocks.sort(key=lambda block: block["type"] != "tool_result")
        role = "user"
    return {"role": role, "content": blocks or [{"type": "text", "text": ""}]}


def _answered(part: Any) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return text(part.content)
    if isinstance(part, ThinkingPart):
        signature = {"signature": part.signature} if part.signature else {}
        return {"type": "thinking", "thinking": part.content, **signature}
    if isinstance(part, ToolCallPart):
        return {
            "type": "tool_use",
            "id": part.tool_call_id,
            "name": part.tool_name,
            "input": part.args_as_dict(),
        }
    if isinstance(part, FilePart):
        return _content(part.content)
    return text(str(getattr(part, "content", part)))


def _asked(part: Any) -> list[dict[str, Any]]:
    if isinstance(part, UserPromptPart):
        if isinstance(part.content, str):
            return [text(part.content)]
        return [_content(one) for one in part.content]
    if isinstance(part, ToolReturnPart):
        files = [_content(file) for file in part.files]
        told = part.model_response_str()
        return [_result(part.tool_call_id, [text(told), *files] if files else told)]
    if isinstance(part, RetryPromptPart):
        told = part.model_response()
        if part.tool_name is None:
            return [text(told)]
        return [_result(part.tool_call_id, told)]
    return [text(str(getattr(part, "content", part)))]


def _result(call_id: str, content: str | list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def _content(content: Any) -> dict[str, Any]:
    if isinstance(content, BinaryContent):
        return _media(content.media_type, data=content.data)
    if isinstance(content, FileUrl):
        return _media(content.media_type, url=content.url)
    if isinstance(content, UploadedFile):
        return _media(content.media_type, url=content.file_id)
    if isinstance(content, TextContent):
        return text(content.content)
    return text(str(content))


def _media(kind: str, *, data: bytes | None = None, url: str | None = None) -> dict[str, Any]:
    """A picture or a file as a block of Anthropic's, whose rules the messages are read by."""
    source: dict[str, Any] = {"type": "url", "url": url}
    if data is not None:
        source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image" if kind.startswith("image/") else "document", "source": source}

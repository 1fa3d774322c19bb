"""Google ADK: what is sent fits, and the session's events stay whole.

from google.adk.runners import InMemoryRunner
from cupel_context.adk import CupelPlugin

runner = InMemoryRunner(agent=agent, plugins=[CupelPlugin(max_tokens=32_000)])
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin

from ._engine import Engine
from ._sessions import Fitter
from ._settings import Pin, Policy, Rules

__all__ = ["CupelPlugin"]


class CupelPlugin(BasePlugin):
    """Sends what fits: the instructions, the tools and the best of the session.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. A session of ADK is
    a session of each of its agents here, whose windows keep the provider's cache.

    Tools that the provider hosts, as its search, are not counted: leave room for them.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        *,
        policy: Policy = "auto",
        output_reserve: int | None = None,
        pins: Iterable[Pin] = (),
        rules: Rules = (),
        tokenizer: str | None = None,
        shorten: str | None = None,
        sessions: bool = True,
        engine: Engine | None = None,
        name: str = "cupel",
    ) -> None:
        super().__init__(name=name)
        engine = engine or Engine(
            policy=policy,
            max_tokens=max_tokens,
            output_reserve=output_reserve,
            pins=pins,
            rules=rules,
            tokenizer=tokenizer,
            shorten=shorten,
            format="gemini",
        )
        self._fitter = Fitter(engine, sessions=sessions)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Changes what is sent: the contents of this request, which ADK made for it alone."""
        if llm_request.contents:
            session = callback_context.session
            # A session's id is unique for one user of one app, and its agents have instructions of their own.
            key = (session.app_name, session.user_id, session.id, callback_context.agent_name)
            window = await asyncio.to_thread(self._fitter.window, _request(llm_request), key)
            llm_request.contents = window.messages
        return None


def _request(request: LlmRequest) -> dict[str, Any]:
    config = request.config
    instruction: Any = config.system_instruction if config is not None else None
    if isinstance(instruction, str):
        instruction = {"parts": [{"text": instruction}]}
    tools = [tool for tool in (config.tools or [] if config is not None else [])]
    declared = [tool for tool in tools if hasattr(tool, "function_declarations")]
    return {
        "model": request.model,
        "contents": request.contents,
        **({"systemInstruction": instruction} if instruction else {}),
        **({"tools": declared} if declared else {}),
    }

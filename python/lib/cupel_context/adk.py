"""Google ADK: what is sent fits, and the session's events stay whole.

from google.adk.runners import InMemoryRunner
from cupel_context.adk import CupelPlugin

runner = InMemoryRunner(agent=agent, plugins=[CupelPlugin(max_tokens=32_000)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ._sessions import WindowOptions, fitter
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelPlugin"]


class CupelPlugin(BasePlugin):
    """Sends what fits: the instructions, the tools and the best of the session.

    Without ``max_tokens`` the window is the model's, where Cupel knows the model. A session of ADK is
    a session of each of its agents here, whose windows keep the provider's cache.

    Tools that the provider hosts, as its search, are not counted: leave room for them.
    """

    def __init__(
        self, max_tokens: int | None = None, *, name: str = "cupel", **options: Unpack[WindowOptions]
    ) -> None:
        super().__init__(name=name)
        self._fitter = fitter(max_tokens, options, format="gemini")

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Changes what is sent: the contents of this request, which ADK made for it alone."""
        if llm_request.contents:
            session = callback_context.session
            # A session's id is unique for one user of one app, and its agents have instructions of their own.
            key = (session.app_name, session.user_id, session.id, callback_context.agent_name)
            window = await in_thread(self._fitter.window, _request(llm_request), key, note=_note)
            llm_request.contents = window.messages
        return None


def _note(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


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

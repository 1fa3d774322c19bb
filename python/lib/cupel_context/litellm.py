"""LiteLLM's proxy: every request fits before it is sent, in all four shapes that it takes.

# proxy_hooks.py, named in the proxy's config.yaml as litellm_settings: callbacks
from cupel_context.litellm import CupelHook

hook = CupelHook(max_tokens=32_000)
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from typing import Any

from litellm.exceptions import BadRequestError, ContextWindowExceededError
from litellm.integrations.custom_logger import CustomLogger

from ._engine import Engine
from ._errors import CupelError, DoesNotFitError
from ._sessions import Fitter
from ._settings import Pin, Policy, Rules

__all__ = ["CupelHook"]

_SHAPES = ("messages", "input", "contents")
"""Where the four shapes keep their messages: Chat and Anthropic, Responses, Gemini."""

_HEAD = (
    "model",
    "tools",
    "functions",
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
)
"""What is counted beside the messages. Everything else is the proxy's own and never read."""


_WHOSE = ("api_key", "user_id", "team_id", "end_user_id")
"""What tells the users of a proxy apart."""


class CupelHook(CustomLogger):
    """Makes requests fit. Without ``max_tokens`` the window is that of the model, where it is known.

    What is no conversation, as an embedding, goes on as it is. Requests that name a session
    (``litellm_session_id``) keep the provider's cache; a session belongs to one key and user.

    What cannot be sent is answered with the status 400, as LiteLLM answers it where a provider says so.
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
        repair: bool = False,
        sessions: bool = True,
        engine: Engine | None = None,
    ) -> None:
        super().__init__()
        engine = engine or Engine(
            policy=policy,
            max_tokens=max_tokens,
            output_reserve=output_reserve,
            pins=pins,
            rules=rules,
            tokenizer=tokenizer,
            shorten=shorten,
            repair=repair,
        )
        self._fitter = Fitter(engine, sessions=sessions)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The request with what fits; the dict that was handed in stays as it is."""
        whose = tuple(getattr(user_api_key_dict, name, None) for name in _WHOSE)
        try:
            return await asyncio.to_thread(self.fit, data, whose)
        except CupelError as error:
            raise _answered(error, str(data.get("model") or "")) from error

    def fit(self, data: dict[str, Any], whose: Hashable = None) -> dict[str, Any]:
        """The same outside of the proxy: the arguments of a call, with what fits."""
        name = next((one for one in _SHAPES if _is_conversation(data.get(one))), None)
        if name is None:
            return data
        request = {one: data[one] for one in (*_HEAD, name) if data.get(one) is not None}
        session = _session(data)
        # A session of one user, key or model is none of another's, whatever they call it.
        key = None if session is None else (whose, data.get("model"), data.get("user"), session)
        window = self._fitter.window(request, key)
        return {**data, name: window.messages}


def _answered(error: CupelError, model: str) -> BadRequestError:
    """The error that the proxy answers with: its status is 400."""
    kind = ContextWindowExceededError if isinstance(error, DoesNotFitError) else BadRequestError
    answered = kind(message=f"cupel: {error}", model=model, llm_provider="")
    answered.body = {
        "code": error.code,
        "path": error.path,
        "rule": error.rule,
        "remedy": error.remedy,
    }
    return answered


def _is_conversation(value: Any) -> bool:
    """Whether it is a list of messages: an embedding's input is a list of texts."""
    return isinstance(value, list) and bool(value) and not isinstance(value[0], (str, int, list))


def _session(data: dict[str, Any]) -> str | None:
    metadata = data.get("metadata") or data.get("litellm_metadata") or {}
    named = data.get("litellm_session_id") or metadata.get("session_id")
    return None if named is None else str(named)

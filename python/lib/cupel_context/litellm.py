"""LiteLLM's proxy: every request fits before it is sent, in all four shapes that it takes.

# proxy_hooks.py, named in the proxy's config.yaml as litellm_settings: callbacks
from cupel_context.litellm import CupelHook

hook = CupelHook(max_tokens=32_000)
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import litellm
from litellm.exceptions import BadRequestError, ContextWindowExceededError
from litellm.integrations.custom_logger import CustomLogger

from ._errors import CupelError, DoesNotFitError
from ._sessions import WindowOptions, fitter, of_user
from ._summaries import in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    from ._lazy import Unpack

__all__ = ["CupelHook", "WindowExceededError"]

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
"""Fields that are counted beside the messages. Everything else is the proxy's own and never read."""


_WHOSE = ("api_key", "user_id", "team_id", "end_user_id")
"""Fields that tell the users of a proxy apart."""


class WindowExceededError(DoesNotFitError, ContextWindowExceededError):  # type: ignore[misc]
    """The messages that must be kept do not fit; an error that LiteLLM knows, and its fallbacks catch."""

    def __init__(self, message: str, **told: Any) -> None:
        self.asked_for(message, told, "")

    def asked_for(self, message: str, told: Mapping[str, Any], model: str) -> None:
        """Says whose window it was; both kinds of error have a word on their code."""
        known = f"cupel: {message}"
        ContextWindowExceededError.__init__(self, message=known, model=model, llm_provider="")
        DoesNotFitError.__init__(self, message, **told)
        self.args, self.body = (message,), _body(self)

    def told(self) -> dict[str, Any]:
        """All that Cupel says of it."""
        return {name: getattr(self, name) for name in ("code", "path", "rule", "remedy", "details")}

    def __str__(self) -> str:
        """The words alone, without LiteLLM's own before them."""
        return str(self.args[0])


class CupelHook(CustomLogger):
    """Makes requests fit. Without ``max_tokens`` the window is that of the model, where it is known.

    What is no conversation, as an embedding, goes on as it is. Requests that name a session
    (``litellm_session_id``) keep the provider's cache; a session belongs to one key and user.

    What cannot be sent is answered with the status 400, as LiteLLM answers it where a provider says so.
    """

    def __init__(self, max_tokens: int | None = None, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._fitter = fitter(max_tokens, options, overflow=WindowExceededError)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The request with what fits; the dict that was handed in stays as it is."""
        whose = tuple(getattr(user_api_key_dict, name, None) for name in _WHOSE)
        try:
            return await in_thread(self.fit, data, whose)
        except WindowExceededError as error:
            error.asked_for(str(error), error.told(), str(data.get("model") or ""))
            raise
        except CupelError as error:
            named = str(data.get("model") or "")
            answered = BadRequestError(message=f"cupel: {error}", model=named, llm_provider="")
            answered.body = _body(error)
            raise answered from error

    def fit(self, data: dict[str, Any], whose: Hashable = None) -> dict[str, Any]:
        """The same outside of the proxy: the arguments of a call, with what fits."""
        name = next((one for one in _SHAPES if _is_conversation(data.get(one))), None)
        if name is None:
            return data
        request = {one: data[one] for one in (*_HEAD, name) if data.get(one) is not None}
        session = _session(data)
        # A session of one user, key or model is none of another's, whatever they call it.
        key = None if session is None else (whose, data.get("model"), data.get("user"), session)
        named = _deployed(str(data.get("model") or ""))
        if named:
            request["model"] = named
        note = _of_gemini if name == "contents" else of_user
        window = self._fitter.window(request, key, window=_known_window(named), note=note)
        return {**data, name: window.messages}


def _of_gemini(words: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": words}]}


def _deployed(model: str) -> str:
    """The model behind the name that the proxy was asked for, where its router knows it."""
    proxy = sys.modules.get("litellm.proxy.proxy_server")
    router = getattr(proxy, "llm_router", None)
    found = router.get_model_list(model_name=model) if router is not None and model else None
    deployed = (found or [{}])[0].get("litellm_params") or {}
    return str(deployed.get("model") or model)


def _known_window(model: str) -> int | None:
    """Window of the model by LiteLLM's own table."""
    for name in (model, model.partition("/")[2]):
        most = (litellm.model_cost.get(name) or {}).get("max_input_tokens")
        if isinstance(most, int):
            return most
    return None


def _body(error: CupelError) -> dict[str, Any]:
    return {"code": error.code, "path": error.path, "rule": error.rule, "remedy": error.remedy}


def _is_conversation(value: Any) -> bool:
    """True if it is a list of messages: an embedding's input is a list of texts."""
    return isinstance(value, list) and bool(value) and not isinstance(value[0], (str, int, list))


def _session(data: dict[str, Any]) -> str | None:
    metadata = data.get("metadata") or data.get("litellm_metadata") or {}
    named = data.get("litellm_session_id") or metadata.get("session_id")
    return None if named is None else str(named)

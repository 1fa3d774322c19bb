"""A call of LiteLLM whose request fits. In the proxy the same hook is named in config.yaml."""

import litellm
from cupel_context.litellm import CupelHook

hook = CupelHook(max_tokens=200)
history = [{"role": "user", "content": f"Note {n}: nothing happened."} for n in range(100)]
call = hook.fit({"model": "gpt-4o", "messages": history})
answer = litellm.completion(**call, mock_response="I see.")
print(answer.choices[0].message.content, "Sent:", len(call["messages"]))

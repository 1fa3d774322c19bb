"""An agent of Strands whose every call fits; its messages stay whole. The model is a fake one."""

from cupel_context.strands import CupelConversationManager
from strands import Agent
from strands.models import Model

sent: list[int] = []


class Fake(Model):
    def update_config(self, **config):
        pass

    def get_config(self):
        return {"model_id": "gpt-4o"}

    def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, messages, *_, **__):
        sent.append(len(messages))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "I see."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


manager = CupelConversationManager(max_tokens=200)
agent = Agent(Fake(), system_prompt="You take notes.", conversation_manager=manager, callback_handler=None)
for n in range(40):
    agent(f"Note {n}: nothing happened.")
print("Sent:", sent[-1], "of", len(agent.messages), "messages")

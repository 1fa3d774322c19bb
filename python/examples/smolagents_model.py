"""A model of smolagents that is sent what fits. What it wraps is a fake one."""

from cupel_context.smolagents import CupelModel
from smolagents.models import ChatMessage, MessageRole, Model

sent: list[int] = []


class Fake(Model):
    def generate(self, messages, *_, **__):
        sent.append(len(messages))
        return ChatMessage(role=MessageRole.ASSISTANT, content="I see.")


def said(role, words):
    return ChatMessage(role=role, content=[{"type": "text", "text": words}])


model = CupelModel(Fake(model_id="gpt-4o"), max_tokens=200)
memory = [said(MessageRole.USER, f"Note {n}: nothing happened.") for n in range(40)]
model.generate(memory)
print("Sent:", sent[-1], "of", len(memory), "messages")

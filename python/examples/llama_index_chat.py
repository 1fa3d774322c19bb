"""A chat engine of LlamaIndex whose memory fits. The model is a fake; take your own."""

from cupel_context.llama_index import CupelMemory
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, MockLLM

history = [ChatMessage(role="user", content=f"Note {n}: nothing happened.") for n in range(100)]
memory = CupelMemory.from_defaults(chat_history=history, max_tokens=200)
engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=8), memory=memory)
engine.chat("Where is the deploy key?")
print("Stored:", len(memory.get_all()), "Sent:", len(memory.get()))

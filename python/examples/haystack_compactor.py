"""A compactor of Haystack, as a CompactionHook calls it."""

from cupel_context.haystack import CupelCompactor
from haystack.dataclasses import ChatMessage
from haystack.token_counters import ApproximateTokenCounter

history = [ChatMessage.from_user(f"Note {n}: nothing happened.") for n in range(100)]
counter = ApproximateTokenCounter()
kept = CupelCompactor().compact(history, target_tokens=200, token_counter=counter)
print("Sent:", len(kept), "of", len(history), "in", counter.count(kept), "tokens")

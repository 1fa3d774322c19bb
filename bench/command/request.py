"""Writes a chat request of 200 messages, with tool calls, to standard output. Same bytes every time."""

import json

WORDS = (
    "the invoice ledger keeps one line per rate and a cent goes missing when rounding happens before "
    "the sum so check totals first then taxes then discounts and run every test again after each change "
    "because the dashboard reads cached figures until midnight and nobody wants to explain a wrong number"
).split()


def text(seed: int, length: int) -> str:
    state, words = seed * 2654435761 % 2**32 or 1, []
    for _ in range(length):
        state = (state * 1664525 + 1013904223) % 2**32
        words.append(WORDS[(state >> 16) % len(WORDS)])
    return " ".join(words)


def messages():
    yield {"role": "system", "content": "You are a careful engineer. " + text(1, 60)}
    for turn in range(49):
        call = f"call_{turn:04}"
        arguments = json.dumps({"path": f"src/part_{turn}.py", "reason": text(4 * turn, 6)})
        function = {"name": "read_file", "arguments": arguments}
        yield {"role": "user", "content": f"Question {turn}: " + text(4 * turn + 1, 25)}
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call, "type": "function", "function": function}],
        }
        yield {"role": "tool", "tool_call_id": call, "content": text(4 * turn + 2, 160)}
        yield {"role": "assistant", "content": text(4 * turn + 3, 45)}
    yield {"role": "user", "content": "One more thing. " + text(997, 20)}
    yield {"role": "assistant", "content": text(998, 45)}
    yield {"role": "user", "content": "So where does the cent go? " + text(999, 10)}


if __name__ == "__main__":
    request = {"model": "gpt-4o", "messages": list(messages())}
    print(json.dumps(request, indent=1))

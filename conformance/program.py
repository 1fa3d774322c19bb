#!/usr/bin/env python3
"""A program that speaks the conformance protocol, for all scorers and placers.

It reads one JSON request per line and writes one JSON answer per line; README.md describes both.
What it does not do, it calls unsupported, and the runner counts those vectors as skipped:

    cargo run -p cupel-conformance -- --program "python3 conformance/program.py" conformance

Python 3.11 or later, nothing but the standard library.
"""

import json
import math
import sys
from datetime import datetime, timedelta, timezone


class Refused(Exception):
    """An error that is the answer: a value that cannot be built."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


class Unsupported(Exception):
    """Something that this program does not do."""


# --- values -----------------------------------------------------------------------------------


def number(value):
    """Floats that JSON has no number for are sent as their names, which float() reads."""
    return float(value)


def written(value):
    """The reverse of number()."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def nanoseconds(seconds):
    """A duration as an exact whole number."""
    if not math.isfinite(seconds):
        return None
    whole = math.floor(seconds)
    return whole * 1_000_000_000 + round((seconds - whole) * 1e9)


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def instant(text):
    """Nanoseconds since 1970. A datetime only keeps microseconds, so the fraction is read by hand."""
    text = text.removesuffix("Z")
    text, _, fraction = text.partition(".")
    whole = datetime.fromisoformat(text).replace(tzinfo=timezone.utc) - EPOCH
    return whole // timedelta(seconds=1) * 1_000_000_000 + int(fraction.ljust(9, "0") or 0)


def lowered(text):
    """Folds the case of ASCII letters and of nothing else."""
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in text)


def clamped(value):
    return min(max(value, 0.0), 1.0)


def require(holds, message, code="scorer_config"):
    if not holds:
        raise Refused(code, message)


def positive(value, name):
    require(math.isfinite(value) and value > 0, f"{name} must be positive, got {value}")
    return value


def not_negative(value, name):
    require(math.isfinite(value) and value >= 0, f"{name} must not be negative, got {value}")
    return value


def unit(value, name):
    require(0 <= value <= 1, f"{name} must be within 0 and 1, got {value}")
    return value


def checked_kind(kind):
    require(kind.strip() != "", "a kind is blank", "empty_kind")
    return lowered(kind)


def checked_items(items):
    for item in items:
        require(item["content"] != "", "an item has no text", "empty_content")
        require(item.get("source", "Chat").strip() != "", "a source is blank", "empty_source")
        checked_kind(item.get("kind", "Message"))
    return items


# --- scorers: each builder checks its options and returns a function of all items to all scores ---


def ranks(items, key):
    """The share of other valued items with a smaller value."""
    values = [key(item) for item in items]
    valued = [value for value in values if value is not None]

    def rank(value):
        if value is None:
            return 0.0
        if len(valued) <= 1:
            return 1.0
        return sum(other < value for other in valued) / (len(valued) - 1)

    return [rank(value) for value in values]


def timestamp(item):
    return instant(item["timestamp"]) if "timestamp" in item else None


def recency(_options):
    return lambda items: ranks(items, timestamp)


def priority(_options):
    return lambda items: ranks(items, lambda item: item.get("priority"))


DEFAULT_KIND_WEIGHTS = {
    "systemprompt": 1.0,
    "memory": 0.8,
    "tooloutput": 0.6,
    "document": 0.4,
    "message": 0.2,
}


def kind(options):
    weights = DEFAULT_KIND_WEIGHTS
    if "weights" in options:
        weights = {
            checked_kind(entry["kind"]): not_negative(number(entry["weight"]), "weight")
            for entry in options["weights"]
        }
    return lambda items: [
        weights.get(lowered(item.get("kind", "Message")), 0.0) for item in items
    ]


def tag(options):
    caseless = options.get("tag_comparison", "exact") == "ascii_caseless"
    folded = lowered if caseless else str
    weights = {}
    for entry in options["tag_weights"]:
        name = folded(entry["tag"])
        require(name not in weights, f"tag {name} has two weights")
        weights[name] = not_negative(number(entry["weight"]), "weight")
    total = sum(weights.values())
    require(math.isfinite(total), "the sum of all weights must be finite")

    def score(item):
        if total == 0.0:
            return 0.0
        matched = sum(weights.get(folded(name), 0.0) for name in item.get("tags", []))
        return min(matched / total, 1.0)

    return lambda items: [score(item) for item in items]


def frequency(_options):
    def scores(items):
        tags = [{lowered(name) for name in item.get("tags", [])} for item in items]
        if len(items) <= 1:
            return [0.0] * len(items)
        return [
            sum(at != other and not mine.isdisjoint(theirs) for other, theirs in enumerate(tags))
            / (len(items) - 1)
            for at, mine in enumerate(tags)
        ]

    return scores


def reflexive(_options):
    def score(item):
        hint = number(item.get("future_relevance_hint", 0.0))
        return clamped(hint) if math.isfinite(hint) else 0.0

    return lambda items: [score(item) for item in items]


def raw_hint(_options):
    """Not in the specification: stands for a user's own scorer, whose scores may be anything."""
    return lambda items: [number(item.get("future_relevance_hint", 0.0)) for item in items]


def composite(options):
    entries = options["scorers"]
    require(entries, "a composite needs at least one scorer")
    weights = [positive(number(entry["weight"]), "weight") for entry in entries]
    children = [build_scorer(entry["scorer"]) for entry in entries]
    total = sum(weights)
    require(math.isfinite(total), "the sum of all weights must be finite")

    def scores(items):
        results = [0.0] * len(items)
        for child, weight in zip(children, weights):
            for at, score in enumerate(child(items)):
                results[at] += score * (weight / total)
        return results

    return scores


def scaled(options):
    inner = build_scorer(options["inner"])

    def scores(items):
        raw = inner(items)
        numbers = [score for score in raw if not math.isnan(score)]
        low, high = min(numbers, default=0.0), max(numbers, default=0.0)
        if low == high:
            return [0.5] * len(items)
        if not math.isfinite(high - low):
            raw, low, high = (places(raw), *places([low, high], raw))
        return [(score - low) / (high - low) for score in raw]

    return scores


def places(scores, among=None):
    """Scores too far apart to subtract: finite ones from 0 to 1, infinite ones one spread beyond."""
    finite = [score for score in among or scores if math.isfinite(score)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)

    def place(score):
        if math.isinf(score):
            return 2.0 if score > 0 else -1.0
        if low == high == score:
            return 0.5
        # Halved, so that the differences are numbers.
        return (score / 2 - low / 2) / (high / 2 - low / 2) if low != high else score

    return [place(score) for score in scores]


def metadata_trust(options):
    default = unit(number(options["default_score"]), "default_score")

    def score(item):
        try:
            text = item.get("metadata", {})["cupel:trust"]
            # float() also reads blanks and underscores, which are not part of a number.
            value = float(text) if text == text.strip() and "_" not in text else math.nan
        except (KeyError, ValueError):
            return default
        return clamped(value) if math.isfinite(value) else default

    return lambda items: [score(item) for item in items]


def metadata_key(options):
    boost = positive(number(options["boost"]), "boost")
    key, value = options["key"], options["value"]
    return lambda items: [
        boost if item.get("metadata", {}).get(key) == value else 1.0 for item in items
    ]


def decay(options):
    now = instant(options["reference_time"])
    curve = build_curve(options["curve"])
    missing = unit(number(options.get("null_timestamp_score", 0.5)), "nullTimestampScore")

    def score(item):
        made = timestamp(item)
        return missing if made is None else curve(max(0, now - made))

    return lambda items: [score(item) for item in items]


def checked_age(seconds, name):
    age = nanoseconds(number(seconds))
    require(age is not None and age > 0, f"{name} must be a positive duration, got {seconds} s")
    return age


def build_curve(curve):
    """A function from an age in nanoseconds to a score."""
    match curve["type"]:
        case "exponential":
            half_life = checked_age(curve["half_life_secs"], "halfLife")
            return lambda age: 2.0 ** (-age / half_life)
        case "window":
            limit = checked_age(curve["max_age_secs"], "maxAge")
            return lambda age: 1.0 if age < limit else 0.0
        case "step":
            return step(curve["windows"])
        case other:
            raise Unsupported(f"no curve {other}")


def step(entries):
    require(entries, "a step curve needs at least one window")
    windows = [
        (checked_age(entry["max_age_secs"], "maxAge"), unit(number(entry["score"]), "score"))
        for entry in entries
    ]
    ages = [limit for limit, _ in windows]
    require(
        all(younger < older for younger, older in zip(ages, ages[1:])), "windows must get longer"
    )
    last = windows[-1][1]
    return lambda age: next((score for limit, score in windows if limit > age), last)


SCORERS = {
    builder.__name__: builder
    for builder in (
        recency, priority, kind, tag, frequency, reflexive,
        raw_hint, composite, scaled, metadata_trust, metadata_key, decay,
    )
}  # fmt: skip


def build_scorer(options):
    if options["type"] not in SCORERS:
        raise Unsupported(f"no scorer {options['type']}")
    return SCORERS[options["type"]](options)


# --- placers ----------------------------------------------------------------------------------


def chronological(items, _scores):
    """Oldest first, items without a timestamp last; sorting is stable."""
    made = [timestamp(item) for item in items]
    return sorted(range(len(items)), key=lambda at: (made[at] is None, made[at] or 0))


def u_shaped(_items, scores):
    """Even ranks fill from the left, odd ones from the right; NaN ranks last."""
    ranked = sorted(
        range(len(scores)), key=lambda at: (math.isnan(scores[at]), -scores[at] or 0.0)
    )
    return ranked[::2] + ranked[1::2][::-1]


# --- the protocol -----------------------------------------------------------------------------


def answer(request):
    items = request["items"]
    match request["stage"]:
        case "scoring":
            scorer = build_scorer(request["scorer"])
            return {"scores": [written(score) for score in scorer(checked_items(items))]}
        case "placing":
            place = {"chronological": chronological, "u-shaped": u_shaped}[request["placer"]]
            scores = [number(score) for score in request["scores"]]
            return {"order": place(checked_items(items), scores)}
        case stage:
            raise Unsupported(f"this program does not do {stage}")


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = answer(request)
        except Refused as error:
            result = {"error": {"code": error.code, "message": error.message}}
        except Unsupported as reason:
            result = {"unsupported": str(reason)}
        print(json.dumps({"id": request["id"], **result}), flush=True)


if __name__ == "__main__":
    main()

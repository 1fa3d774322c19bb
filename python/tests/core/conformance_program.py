"""Speaks the protocol of the conformance suite, with the package alone: every vector is asked of it.

    cargo run -p cupel-conformance -- --program "python python/tests/conformance_program.py" conformance

What the protocol names, the package has; this program only translates.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from cupel_context import (
    Budget,
    CupelError,
    Item,
    Pipeline,
    Placer,
    Scorer,
    Slicer,
    policy_sensitivity,
)


def number(value: float) -> Any:
    """Floats that JSON has no number for are sent as their names."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def item(told: dict[str, Any]) -> Item:
    told = dict(told)
    if "future_relevance_hint" in told:
        told["future_relevance_hint"] = float(told["future_relevance_hint"])
    return Item(told.pop("content"), told.pop("tokens"), **told)


def budget(told: dict[str, Any]) -> Budget:
    told = dict(told)
    margin = float(told.pop("estimation_safety_margin_percent", 0.0))
    return Budget(told.pop("max_tokens"), margin_percent=margin, **told)


def weights(entries: list[dict[str, Any]], name: str) -> dict[str, float]:
    return {entry[name]: float(entry["weight"]) for entry in entries}


def raw_hint(one: Item, _all: Any) -> float:
    return 0.0 if one.future_relevance_hint is None else one.future_relevance_hint


def scorer(told: dict[str, Any]) -> Scorer:
    kind = told["type"]
    if kind in ("recency", "priority", "frequency", "reflexive"):
        made: Scorer = getattr(Scorer, kind)()
        return made
    if kind == "kind":
        return Scorer.kind(weights(told["weights"], "kind") if "weights" in told else None)
    if kind == "tag":
        caseless = told.get("tag_comparison") == "ascii_caseless"
        return Scorer.tag(weights(told.get("tag_weights", []), "tag"), caseless=caseless)
    if kind == "composite":
        children = [(scorer(one["scorer"]), float(one["weight"])) for one in told["scorers"]]
        return Scorer.composite(children)
    if kind == "scaled":
        return Scorer.scaled(scorer(told["inner"]))
    if kind == "metadata_trust":
        return Scorer.metadata_trust(float(told["default_score"]))
    if kind == "metadata_key":
        return Scorer.metadata_key(told["key"], told["value"], float(told["boost"]))
    if kind == "decay":
        curve = told["curve"]
        ages = {"exponential": "half_life_secs", "window": "max_age_secs"}
        if curve["type"] in ages:
            steps = [(float(curve[ages[curve["type"]]]), 0.0)]
        else:
            steps = [(float(one["max_age_secs"]), float(one["score"])) for one in curve["windows"]]
        missing = float(told.get("null_timestamp_score", 0.5))
        time = told["reference_time"]
        return Scorer.decay(curve["type"], steps, reference_time=time, null_timestamp_score=missing)
    if kind == "raw_hint":
        return Scorer.custom(raw_hint, allow_nan=True)
    raise NotImplementedError(f"the scorer {kind}")


def slicer(told: dict[str, Any]) -> Slicer:
    kind = told["type"]
    inner = slicer(told["inner"]) if "inner" in told else None
    if kind == "greedy":
        return Slicer.greedy()
    if kind == "knapsack":
        return Slicer.knapsack(told.get("bucket_size", 100))
    if kind == "quota":
        quotas = [
            (one["kind"], float(one.get("require", 0)), float(one.get("cap", 100))) for one in told["quotas"]
        ]
        return Slicer.quota(quotas, inner)
    entries = [(one["kind"], one["require_count"], one["cap_count"]) for one in told["entries"]]
    scarcity = told.get("scarcity_behavior", "degrade")
    if kind == "count_quota":
        return Slicer.count_quota(entries, inner, scarcity=scarcity)
    if kind == "count_constrained_knapsack":
        size = told.get("bucket_size", 100)
        return Slicer.count_constrained_knapsack(entries, bucket_size=size, scarcity=scarcity)
    raise NotImplementedError(f"the slicer {kind}")


def placer(name: str) -> Placer:
    return Placer.u_shaped() if name in ("u-shaped", "u_shaped") else Placer.chronological()


def pipeline(told: dict[str, Any]) -> Pipeline:
    return Pipeline(
        scorer(told["scorer"]),
        slicer(told["slicer"]),
        placer(told["placer"]),
        deduplication=told.get("deduplication", True),
        overflow_strategy=told.get("overflow_strategy", "throw"),
    )


def report(told: dict[str, Any]) -> dict[str, Any]:
    def decided(one: dict[str, Any]) -> dict[str, Any]:
        reason = one["reason"]
        # The package writes a reason's fields beside the item; the protocol has them apart.
        fields = (
            reason
            if isinstance(reason, dict)
            else {name: value for name, value in one.items() if name not in ("item", "score", "position")}
        )
        return {"index": one["position"], "score": one["score"], "reason": fields}

    told = dict(told)
    told["included"] = [decided(one) for one in told["included"]]
    told["excluded"] = [decided(one) for one in told["excluded"]]
    if told.get("overflow"):
        event = told["overflow"]
        pinned = [one for one in told["included"] if one["reason"]["reason"] == "Pinned"]
        others = [one for one in told["included"] if one["reason"]["reason"] != "Pinned"]
        merged = [one["index"] for one in pinned + others]
        told["overflow"] = {
            "tokens_over_budget": event["tokens_over_budget"],
            "overflowing_items": merged,
        }
    return told


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    stage = asked["stage"]
    if stage == "scoring":
        judge = scorer(asked["scorer"])
        return {"scores": [number(s) for s in judge.score([item(i) for i in asked["items"]])]}
    if stage == "policy_sensitivity":
        variants = {one["label"]: pipeline(one["policy"]) for one in asked["variants"]}
        items = [item(one) for one in asked["items"]]
        told = policy_sensitivity(items, budget(asked["budget"]), variants)
        for variant in told["variants"]:
            variant["report"] = report(variant["report"])
        return told
    if stage == "slicing":
        cut = slicer(asked["slicer"])
        items = [item(one) for one in asked["items"]]
        scores = [float(score) for score in asked["scores"]]
        selected, capped, lacked = cut.slice(items, scores, budget(asked["budget"]))
        names = ("kind", "required_count", "satisfied_count")
        shortfalls = [dict(zip(names, one)) for one in lacked]
        return {"selected": selected, "cap_excluded": capped, "shortfalls": shortfalls}
    if stage == "placing":
        items = [item(one) for one in asked["items"]]
        scores = [float(score) for score in asked["scores"]]
        return {"order": placer(asked["placer"]).place(items, scores)}
    run = pipeline(asked["policy"])
    items = [item(one) for one in asked["items"]]
    fits = budget(asked["budget"])
    if stage == "pipeline":
        window = run.run(items, fits)
        return {"output": window.kept, "report": report(window.report)}
    if stage == "get_marginal_items":
        return {"marginal": run.marginal(items, fits, asked["slack_tokens"])}
    if stage == "find_min_budget_for":
        target = item(asked["foreign_target"]) if "foreign_target" in asked else items[asked["target"]]
        found = run.min_budget(items, target, asked["search_ceiling"])
        return {} if found is None else {"min_budget": found}
    raise NotImplementedError(f"the stage {stage}")


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = answer(asked)
        except CupelError as error:
            message = {"code": error.code, "message": str(error), "details": error.details}
            told = {"error": message}
        except NotImplementedError as error:
            told = {"unsupported": str(error)}
        print(json.dumps({"id": asked["id"], **told}), flush=True)


if __name__ == "__main__":
    main()

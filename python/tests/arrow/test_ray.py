"""Ray Data, on this machine."""

from __future__ import annotations

import functools
from typing import Any

import pyarrow as pa
from cupel_context.arrow import select_batch
from test_arrow import REQUESTS, check


def test_ray_maps_batches() -> None:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        data: Any = ray.data.from_arrow(pa.table({"request": REQUESTS}))
        fitted = functools.partial(select_batch, max_tokens=200, threads=1)
        made = data.map_batches(fitted, batch_format="pyarrow")
        check(pa.concat_tables(ray.get(made.to_arrow_refs())).to_pylist(), [200] * 40)
    finally:
        ray.shutdown()

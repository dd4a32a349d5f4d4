"""The source entry of a round: written for rounds that the shipped knowledge base does not know yet."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from advisor.atomic import replace_file
from advisor.errors import InputError
from advisor.knowledge.locate import kb_folder
from advisor.records import Evidence
from advisor.units import shown

_TEMPLATE = """\
# yaml-language-server: $schema=../../schemas/source.schema.json
id: sources/mlperf-{round}
title: MLPerf® Inference {round} results, datacenter
publisher: MLCommons Association
url: https://github.com/mlcommons/inference_results_{round}
retrieved: "{today}"
licence: Apache-2.0
citation: >-
  MLPerf® Inference {round} results, datacenter. MLCommons Association,
  https://github.com/mlcommons/inference_results_{round}, retrieved {today}.
notice: >-
  The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the United States
  and other countries. All rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more
  information.
note: >-
  Figures per accelerator, ratios and other arithmetic on these results are not a primary metric of the benchmark and
  were not verified by MLCommons Association. MLCommons takes no responsibility for purchases made on the strength of
  results.
"""


def write_missing_sources(entries: Iterable[Evidence], folder: Path, today: date) -> list[Path]:
    """Write the source entries that `entries` name and that neither `folder` nor the shipped knowledge base has.

    Raises InputError when a file cannot be written.
    """
    written = []
    for source, round_ in sorted({(entry.source, entry.round) for entry in entries}):
        path = folder / f"{source}.yaml"
        if path.exists() or (kb_folder() / f"{source}.yaml").exists():
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, _TEMPLATE.format(round=round_, today=today.isoformat()).encode())
        except OSError as error:
            raise InputError(f"{shown(str(path), 200)} cannot be written: {error.strerror}") from None
        written.append(path)
    return written

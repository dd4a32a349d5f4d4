"""KB420-KB425: a model's figures agree with its own architecture."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.lint.check import Problem, entry_check
from advisor.records import Model
from advisor.units import format_count

_TOTAL_TOLERANCE = 0.02
_ACTIVE_TOLERANCE = 0.10
_SIZE_TOLERANCE = 0.15
_STATE_KINDS = ("mla", "linear", "mamba", "none")


@entry_check("KB420", "parameter-count", "warning", "models")
def parameter_count(entry: Model) -> Iterator[Problem]:
    """The stated number of parameters is not what the architecture adds up to.

    ## What it does
    Counts the values of every matrix that the architecture describes and compares with `parameters_total`, within 2 %.

    ## Why is this bad?
    Weights, fit and speed are computed from the architecture. If it misses a tenth of the model, so does every answer.

    ## Example
    ```yaml
    # models/example.yaml
    parameters_total: {value: 9000000000, trust: unverified}
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    title: The architecture and the total agree
    ```

    ## How to fix
    Compare with the checkpoint's config.json: layers, head dimensions, experts and tied embeddings are the usual suspects.
    """
    from advisor.sizing.tensors import count_parameters

    counted = count_parameters(entry.architecture).total
    stated = entry.parameters_total.number
    if stated <= 0 or abs(counted / stated - 1) > _TOTAL_TOLERANCE:
        yield Problem(where=("parameters_total", "value"),
                      message=f"{format_count(stated)} parameters are stated, the architecture has {format_count(counted)}",
                      fix="compare layers, dimensions and experts with the checkpoint's config.json")  # fmt: skip


@entry_check("KB421", "active-parameter-count", "warning", "models")
def active_parameter_count(entry: Model) -> Iterator[Problem]:
    """The stated number of active parameters does not fit the architecture.

    ## What it does
    Counts what one token multiplies with and compares with `parameters_active`, within 10 % (publishers count embeddings and
    routers differently); also reports more active than total parameters.

    ## Why is this bad?
    Speed of a mixture of experts follows its active parameters.

    ## Example
    ```yaml
    # models/example.yaml
    parameters_active: {value: 9000000000, trust: unverified}
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    title: A dense model leaves the field out
    ```

    ## How to fix
    Check `experts_per_token` and the shared experts, or the published figure.
    """
    from advisor.sizing.tensors import count_parameters

    if entry.parameters_active is None:
        return
    stated = entry.parameters_active.number
    counted = count_parameters(entry.architecture).active
    if stated > entry.parameters_total.number:
        yield Problem(where=("parameters_active", "value"), message="more parameters are active than there are",
                      fix="swap or correct the two figures")  # fmt: skip
    elif stated <= 0 or abs(counted / stated - 1) > _ACTIVE_TOLERANCE:
        yield Problem(where=("parameters_active", "value"),
                      message=f"{format_count(stated)} active parameters are stated, the architecture has {format_count(counted)}",
                      fix="check experts_per_token and the shared experts")  # fmt: skip


@entry_check("KB422", "layer-sums", "error", "models")
def layer_sums(entry: Model) -> Iterator[Problem]:
    """Attention groups and feed-forward groups do not add up to the same number of layers.

    ## What it does
    Adds the `layers` of each list.

    ## Why is this bad?
    Every layer has both parts (kind `none` where one is missing), so one of the lists lost a group.

    ## Example
    ```yaml
    # models/example.yaml
    architecture:
      type: example
      hidden: 4096
      vocabulary: 32000
      attention: [{layers: 32, heads: 32, kv_heads: 8, head_dim: 128}]
      feed_forward: [{layers: 31, intermediate: 14336}]
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    architecture:
      type: example
      hidden: 4096
      vocabulary: 32000
      attention: [{layers: 32, heads: 32, kv_heads: 8, head_dim: 128}]
      feed_forward: [{layers: 32, intermediate: 14336}]
    ```

    ## How to fix
    Add the group that is missing.
    """
    attention, feed_forward = (
        sum(group.layers for group in groups)
        for groups in (entry.architecture.attention, entry.architecture.feed_forward)
    )
    if attention != feed_forward:
        yield Problem(where=("architecture", "feed_forward"),
                      message=f"{attention} layers have attention, {feed_forward} have a feed-forward part",
                      fix="add the group that is missing, with kind none where a layer has no such part")  # fmt: skip


@entry_check("KB423", "checkpoint-size", "warning", "models")
def checkpoint_size(entry: Model) -> Iterator[Problem]:
    """The stated size of a checkpoint does not fit its precision.

    ## What it does
    Computes the bytes from the architecture and the storage format and compares with `size_bytes`, within 15 %.

    ## Why is this bad?
    A precision that is not what the file holds doubles or halves the memory that is planned.

    ## Example
    ```yaml
    # models/example.yaml
    checkpoints:
      - {precision: fp4, size_bytes: {value: 16060000000, trust: unverified}}
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    checkpoints:
      - {precision: bf16, size_bytes: {value: 16060000000, trust: unverified}}
    ```

    ## How to fix
    Compare with the sum of the files; check the precision, the format and which parts stay in 16 bit.
    """
    from advisor.sizing.weights import checkpoint_bytes

    for index, checkpoint in enumerate(entry.checkpoints):
        if checkpoint.size_bytes is None:
            continue
        stated = checkpoint.size_bytes.number
        computed = checkpoint_bytes(entry, checkpoint)
        if stated <= 0 or abs(computed / stated - 1) > _SIZE_TOLERANCE:
            yield Problem(where=("checkpoints", index, "size_bytes", "value"),
                          message=f"{stated / 1e9:,.1f} GB are stated, {checkpoint.precision} of this architecture takes {computed / 1e9:,.1f} GB",
                          fix="check the precision, the format and which parts stay in 16 bit")  # fmt: skip


@entry_check("KB424", "attention-heads", "error", "models")
def attention_heads(entry: Model) -> Iterator[Problem]:
    """Heads that cannot be: key-value heads that do not divide the heads, or no head dimension.

    ## What it does
    Checks each attention group with ordinary keys and values.

    ## Why is this bad?
    The KV cache is computed from these numbers; one slip is a factor.

    ## Example
    ```yaml
    # models/example.yaml
    architecture:
      type: example
      hidden: 4096
      vocabulary: 32000
      attention: [{layers: 32, heads: 32, kv_heads: 7, head_dim: 128}]
      feed_forward: [{layers: 32, intermediate: 14336}]
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    architecture:
      type: example
      hidden: 4096
      vocabulary: 32000
      attention: [{layers: 32, heads: 32, kv_heads: 8, head_dim: 128}]
      feed_forward: [{layers: 32, intermediate: 14336}]
    ```

    ## How to fix
    Copy num_attention_heads, num_key_value_heads and head_dim from the checkpoint's config.json.
    """
    for index, group in enumerate(entry.architecture.attention):
        if group.kind in _STATE_KINDS:
            continue
        where = ("architecture", "attention", index)
        if group.heads <= 0 or group.head_dim <= 0 or group.kv_heads <= 0:
            yield Problem(where=where, message="heads, kv_heads and head_dim must all be given",
                          fix="copy them from the checkpoint's config.json")  # fmt: skip
        elif group.heads % group.kv_heads:
            yield Problem(where=(*where, "kv_heads"), message=f"{group.kv_heads} key-value heads do not divide {group.heads} heads",
                          fix="copy both from the checkpoint's config.json")  # fmt: skip


@entry_check("KB425", "context-limit", "warning", "models")
def context_limit(entry: Model) -> Iterator[Problem]:
    """A context limit that is unlikely, or scaled below the unscaled one.

    ## What it does
    Expects 512 to 16,777,216 tokens and a scaled limit at or above the plain one.

    ## Why is this bad?
    A limit in thousands of tokens, or two swapped fields, would refuse or allow the wrong contexts.

    ## Example
    ```yaml
    # models/example.yaml
    context_limit: {value: 128, trust: unverified}
    ```

    ## Use instead
    ```yaml
    # models/example.yaml
    context_limit: {value: 131072, trust: unverified}
    ```

    ## How to fix
    Write tokens: 128k is 131072.
    """
    limit = entry.context_limit.number
    if not 512 <= limit <= 16_777_216:
        yield Problem(where=("context_limit", "value"), message=f"{format_count(limit)} tokens is an unlikely context limit",
                      fix="write tokens; 128k is 131072")  # fmt: skip
    if entry.context_limit_scaled is not None and entry.context_limit_scaled.number < limit:
        yield Problem(where=("context_limit_scaled", "value"), message="the scaled limit is below the plain one",
                      fix="swap or correct the two")  # fmt: skip

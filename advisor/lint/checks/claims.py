"""KB400-KB405: the figures of a gotcha's prose recompute from the evidence they are bound to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from advisor.lint.check import Problem, corpus_check, declare
from advisor.lint.corpus import Corpus
from advisor.records import Claim, Correction, Gotcha

T = TypeVar("T", Claim, Correction)

_CODES = {
    "absent": "KB400",
    "expression": "KB401",
    "uncovered": "KB402",
    "mismatch": "KB403",
    "input": "KB404",
    "no-number": "KB405",
}
"""Kind of problem that the evidence layer reports -> code."""


@corpus_check("KB403", "claim-mismatch", "error")
def claims(corpus: Corpus) -> Iterator[Problem]:
    """A figure in the prose is not what its evidence gives.

    ## What it does
    Recomputes every claim and correction from the evidence it names, rounds the result as the prose is rounded, and compares.

    ## Why is this bad?
    The figure is wrong, or the evidence it is bound to is not the evidence it came from. Readers buy machines on such figures.

    ## Example
    ```yaml
    symptom: The box delivers 300 tok/s for each GPU.
    claims:
      - text: 300 tok/s
        expression: rate / gpus
        inputs:
          rate: evidence/example/box#llama2-70b/offline
          gpus: evidence/example/box#@accelerators
    ```

    ## Use instead
    ```yaml
    symptom: The box delivers 125 tok/s for each GPU.
    claims:
      - text: 125 tok/s
        expression: rate / gpus
        inputs:
          rate: evidence/example/box#llama2-70b/offline
          gpus: evidence/example/box#@accelerators
    ```

    ## How to fix
    Write the recomputed value. If the figure is somebody's own, keep it and put the right one beside it in `corrections`
    with the reason.
    """
    for gotcha in corpus.mine(corpus.kb.gotchas):
        for problem in _check(corpus, gotcha):
            yield replace(problem, entry=gotcha.id)


def _check(corpus: Corpus, gotcha: Gotcha) -> Iterator[Problem]:
    from advisor.evidence.claims import check_claims

    checkable = replace(
        gotcha,
        claims=tuple(_checkable(corpus, claim) for claim in gotcha.claims),
        corrections=tuple(_checkable(corpus, correction) for correction in gotcha.corrections),
    )
    for found in check_claims(corpus.kb, checkable):
        text = found.text if found.kind == "uncovered" else ""
        yield Problem(
            code=_CODES[found.kind], where=found.where, message=found.message, fix=found.fix, text=text
        )


def _checkable(corpus: Corpus, claim: T) -> T:
    """The claim without its arithmetic where an input names an entry that does not exist: KB210 says so already."""
    if all(reference.partition("#")[0] in corpus.kb.evidence for reference in claim.inputs.values()):
        return claim
    return replace(claim, expression="", inputs={})


declare(
    "KB400",
    "claim-not-in-prose",
    "error",
    """
A claim or correction quotes text that the entry does not hold.

## What it does
Looks for `text` of each claim and correction in symptom, root cause, workaround and notes, line breaks aside.

## Why is this bad?
The figure that the claim was written for is left unchecked, usually because the prose was edited later.

## Example
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - {text: 126 tok/s, expression: "126"}
```

## Use instead
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## How to fix
Copy the figure from the prose, character by character.
""",
)

declare(
    "KB401",
    "claim-expression",
    "error",
    """
The expression of a claim is not arithmetic over its inputs.

## What it does
Parses each expression: numbers, input names, `+ - * /`, parentheses and the functions that the claims page lists. Depth and
length are bounded; nothing is executed. Division by zero is reported.

## Why is this bad?
A claim that cannot be computed checks nothing.

## Example
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / (gpus - gpus)
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## Use instead
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## How to fix
Write plain arithmetic over the names in `inputs`.
""",
)

declare(
    "KB402",
    "uncovered-figure",
    "error",
    """
A performance figure or percentage in the prose that no claim accounts for.

## What it does
Finds figures with a performance unit or a percent sign in symptom, root cause and notes, and looks for a claim or
correction whose `text` covers them.

## Why is this bad?
An uncovered figure is remembered, copied or guessed. Nobody can recompute it when the evidence changes.

## Example
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims: []
```

## Use instead
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## How to fix
Bind it: a claim with an expression over evidence, or a claim with the source that it is quoted from.
""",
)

declare(
    "KB404",
    "claim-input",
    "error",
    """
An input of a claim names no value, or is not used.

## What it does
Looks up each input: the entry, the benchmark and scenario or the latency field, and whether the expression mentions it.

## Why is this bad?
The figure cannot be computed, or rests on less than it says.

## Example
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/server", gpus: "evidence/example/box#@accelerators"}
```

## Use instead
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## How to fix
Write `<evidence id>#<benchmark>/<scenario>`, with `@<latency field>` behind it for a latency, or `#@accelerators`.
""",
)

declare(
    "KB405",
    "claim-without-number",
    "error",
    """
A claim has an expression, and its text has no number to compare it with.

## What it does
Reports claims and corrections whose figure holds fewer numbers than it has expressions.

## Why is this bad?
Nothing is compared, so the claim always holds.

## Example
```yaml
symptom: The box delivers half as much for each GPU.
claims:
  - text: half as much
    expression: rate / 2
    inputs: {rate: "evidence/example/box#llama2-70b/offline"}
```

## Use instead
```yaml
symptom: The box delivers 125 tok/s for each GPU.
claims:
  - text: 125 tok/s
    expression: rate / gpus
    inputs: {rate: "evidence/example/box#llama2-70b/offline", gpus: "evidence/example/box#@accelerators"}
```

## How to fix
Write the figure with digits, or leave the expression out and name the source instead.
""",
)

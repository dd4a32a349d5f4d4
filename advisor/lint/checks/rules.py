"""KB500-KB504: names, types and units in rules and conditions; runs the verification of the whole rule base."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.lint.check import Problem, corpus_check, declare
from advisor.lint.corpus import Corpus

_CODES = {
    "unknown-fact": "KB500",
    "wrong-type": "KB501",
    "wrong-unit": "KB502",
    "out-of-range": "KB503",
    "bad-effect": "KB504",
    "never-fires": "KB505",
    "subsumed": "KB506",
    "contradiction": "KB507",
    "gap": "KB508",
    "unread-fact": "KB509",
    "unasked-question": "KB510",
    "cycle": "KB511",
}
"""Kind of problem that the reasoning layer reports -> code."""


@corpus_check("KB500", "unknown-fact", "error")
def rule_base(corpus: Corpus) -> Iterator[Problem]:
    """A condition or an effect names a fact that does not exist.

    ## What it does
    Looks up every fact that rules and the conditions of gotchas read or set.

    ## Why is this bad?
    A comparison with a fact that nobody ever states never holds, so the rule never fires.

    ## Example
    ```yaml
    applies_when: {fact: model_is_mo, is: true}
    ```

    ## Use instead
    ```yaml
    applies_when: {fact: model_is_moe, is: true}
    ```

    ## How to fix
    Correct the name, or declare the fact: `rackfit new fact NAME`.
    """
    from advisor.reasoning.verify import verify_rules

    for found in verify_rules(corpus.kb):
        example = f", for example {found.example}" if found.example else ""
        yield Problem(entry=found.entry_id, code=_CODES[found.kind], where=found.where, fix=found.fix,
                      message=f"{found.message}{example}")  # fmt: skip


declare(
    "KB501",
    "wrong-fact-type",
    "error",
    """
A value that the fact can never have.

## What it does
Compares values in conditions and effects with the type, the choices or the kind of entry of the fact.

## Why is this bad?
The comparison never holds, or always does, whatever the user says.

## Example
```yaml
applies_when: {fact: model_is_moe, is: "yes"}
```

## Use instead
```yaml
applies_when: {fact: model_is_moe, is: true}
```

## How to fix
Use a value of the fact's type; `rackfit show facts/NAME` lists what it can be.
""",
)

declare(
    "KB502",
    "wrong-unit",
    "error",
    """
A quantity in a unit that cannot be converted to the fact's.

## What it does
Reads bounds written with their unit (`15 ms`) and compares the unit with the fact's.

## Why is this bad?
A limit in seconds compared with milliseconds is off by a thousand.

## Example
```yaml
# rules/example.yaml
when: {fact: tpot_ms, below: 15 GB}
```

## Use instead
```yaml
# rules/example.yaml
when: {fact: tpot_ms, below: 15 ms}
```

## How to fix
Write the number in the fact's unit, or with a unit of the same sort.
""",
)

declare(
    "KB503",
    "beyond-fact-range",
    "warning",
    """
A bound beyond what the fact can be.

## What it does
Compares bounds with the `minimum` and `maximum` of the fact.

## Why is this bad?
The comparison is always true or always false, so the rule does not say what its author meant.

## Example
```yaml
# rules/example.yaml
when: {fact: tpot_ms, below: -5}
```

## Use instead
```yaml
# rules/example.yaml
when: {fact: tpot_ms, below: 50}
```

## How to fix
Correct the bound, or the range of the fact.
""",
)

declare(
    "KB504",
    "bad-effect",
    "error",
    """
An effect that does nothing where it stands.

## What it does
Checks the target of each effect against the scope of its rule.

## Why is this bad?
The rule fires and changes nothing, while its author relies on it.

## Example
```yaml
# rules/example.yaml
scope: comparison
then: [{forbid: candidate}]
```

## Use instead
```yaml
# rules/example.yaml
scope: comparison
then: [{forbid: high}]
```

## How to fix
Use a target that the scope of the rule knows: a verdict, a confidence, `candidate` or a fact.
""",
)

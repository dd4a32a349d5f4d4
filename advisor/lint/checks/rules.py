"""KB500-KB511: the rule base as a whole: names, types and units, and every region of the input space it cuts out."""

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

declare(
    "KB505",
    "never-fires",
    "error",
    """
A condition that nothing can satisfy.

## What it does
Searches the input space, cut at the condition's own thresholds, for one point where it holds.

## Why is this bad?
The rule or gotcha is dead, and its author believes it protects somebody.

## Example
```yaml
applies_when: {all: [{fact: tpot_ms, below: 10}, {fact: tpot_ms, above: 20}]}
```

## Use instead
```yaml
applies_when: {all: [{fact: tpot_ms, above: 10}, {fact: tpot_ms, below: 20}]}
```

## How to fix
Correct the bound or value named, or remove the condition.
""",
)

declare(
    "KB506",
    "subsumed-rule",
    "warning",
    """
A rule that another one makes superfluous.

## What it does
Reports rules that hold only where another rule of the same precedence holds too and concludes the same.

## Why is this bad?
It adds its strength twice to one argument, and editing one of the two has no effect on the other.

## Example
```yaml
# rules/narrow.yaml
scope: comparison
when: {all: [{fact: tpot_ms, below: 10}, {fact: model_is_moe, is: true}]}
then: [{favour: node}]
---
# rules/wide.yaml
scope: comparison
when: {fact: tpot_ms, below: 20}
then: [{favour: node}]
```

## Use instead
```yaml
# rules/narrow.yaml
scope: comparison
when: {all: [{fact: tpot_ms, below: 10}, {fact: model_is_moe, is: true}]}
then: [{favour: either}]
---
# rules/wide.yaml
scope: comparison
when: {fact: tpot_ms, below: 20}
then: [{favour: node}]
```

## How to fix
Remove it, narrow the other one, or let it conclude something else.
""",
)

declare(
    "KB507",
    "contradiction",
    "error",
    """
Two rules conclude opposites where both hold, with nothing to choose between them.

## What it does
Searches the overlap of each pair of opposed rules of one precedence for a point, and shows it.

## Why is this bad?
The answer depends on the order of files, or cancels to nothing.

## Example
```yaml
# rules/one.yaml
scope: comparison
when: {fact: tpot_ms, below: 10}
then: [{require: node}]
---
# rules/two.yaml
scope: comparison
when: {fact: model_is_moe, is: true}
then: [{require: rack}]
```

## Use instead
```yaml
# rules/one.yaml
scope: comparison
when: {fact: tpot_ms, below: 10}
then: [{require: node}]
---
# rules/two.yaml
scope: comparison
precedence: 1
when: {fact: model_is_moe, is: true}
then: [{require: rack}]
```

## How to fix
Give one of them a higher `precedence`, or make their conditions exclude each other.
""",
)

declare(
    "KB508",
    "verdict-gap",
    "error",
    """
There are inputs for which no rule concludes a verdict.

## What it does
Cuts the input space at the thresholds of the rules and looks for a region that none of them speaks about; shows a point of it
at the rule that comes nearest.

## Why is this bad?
A user with that input gets no answer.

## Example
```yaml
# rules/default.yaml
when: {fact: tpot_ms, below: 50}
then: [{favour: node}]
```

## Use instead
```yaml
# rules/default.yaml
when: {any: [{fact: tpot_ms, known: true}, {fact: tpot_ms, known: false}]}
then: [{favour: node}]
```

## How to fix
Widen a condition, or add a rule of low precedence for what is left.
""",
)

declare(
    "KB509",
    "unread-fact",
    "warning",
    """
A fact that nothing reads.

## What it does
Looks for the fact in rules, conditions of gotchas, texts with its name in braces, and its own `used_by`.

## Why is this bad?
Asking for it or computing it is wasted, and it looks as if it mattered.

## Example
```yaml
# facts/idle.yaml
name: idle
```

## Use instead
```yaml
# facts/idle.yaml
name: idle
---
# gotchas/example.yaml
applies_when: {all: [{fact: model_is_moe, is: false}, {fact: idle, known: true}]}
```

## How to fix
Write a rule that reads it, name what does in `used_by`, or remove it.
""",
)

declare(
    "KB510",
    "unasked-question",
    "warning",
    """
A question that is never asked, or a fact that is asked about without one.

## What it does
Compares `question` with `ask`, and asks whether any answer can change a verdict.

## Why is this bad?
The text is dead, or the user is shown an empty question.

## Example
```yaml
# facts/idle.yaml
name: idle
ask: decisive
---
# gotchas/example.yaml
applies_when: {all: [{fact: model_is_moe, is: false}, {fact: idle, known: true}]}
```

## Use instead
```yaml
# facts/idle.yaml
name: idle
ask: never
---
# gotchas/example.yaml
applies_when: {all: [{fact: model_is_moe, is: false}, {fact: idle, known: true}]}
```

## How to fix
Set `ask: decisive` and let a rule conclude from the fact, or drop the question.
""",
)

declare(
    "KB511",
    "fact-cycle",
    "error",
    """
Facts that settle each other in a circle.

## What it does
Follows which rules set a fact from which others, and reports circles.

## Why is this bad?
The value would depend on the order in which rules happen to run.

## Example
```yaml
# rules/one.yaml
scope: requirement
when: {fact: model_is_moe, is: true}
then: [{assume: tpot_ms, value: 20}]
---
# rules/two.yaml
scope: requirement
when: {fact: tpot_ms, known: true}
then: [{assume: model_is_moe, value: true}]
```

## Use instead
```yaml
# rules/one.yaml
scope: requirement
when: {fact: model_is_moe, is: true}
then: [{assume: tpot_ms, value: 20}]
```

## How to fix
Cut the circle: let one of the facts be said or computed only.
""",
)

"""KB505-KB511: regions of the input space that rules leave out, claim twice or never reach. Found by `rules.rule_base`."""

from __future__ import annotations

from advisor.lint.check import declare

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

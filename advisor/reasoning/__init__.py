"""Rules over facts: the engine, its trace, verification of the rule base, verdict and flips."""

"""One module per command: argument handling and nothing else."""

"""Speed and memory of the training engine: `make benchmark`, or `python -m benchmarks --help`."""

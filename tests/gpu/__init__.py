"""Tests that need a CUDA device; without one they are skipped."""

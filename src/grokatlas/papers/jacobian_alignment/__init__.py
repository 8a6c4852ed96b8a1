"""Figures and tables of Jacobian Alignment Explains Grokking, the workshop version of GrokAlign."""

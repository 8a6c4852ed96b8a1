"""What a change does to figures and claims: two commits or results trees, side by side."""

"""What a change does to figures and claims: two commits or results trees, on one page."""

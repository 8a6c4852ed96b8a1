"""The effect of a change on figures and claims: two commits or results trees."""

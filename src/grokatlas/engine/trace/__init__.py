"""Programs of one member, mapped over all members and traced to one list of operations."""

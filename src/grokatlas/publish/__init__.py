"""Pages and files of this repository that are made from its contents."""

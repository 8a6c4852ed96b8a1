"""The surroundings of a job: its file, its process, saved states, errors of components."""

"""The benchmark of accelerators: its protocol, an entry as a study, the judgement (docs)."""

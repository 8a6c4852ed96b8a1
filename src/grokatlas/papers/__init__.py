"""One folder for each paper, one pure function `draw` for each figure."""

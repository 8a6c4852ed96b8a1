import os

# one thread: sums are then taken in one order, and tests do not crowd a shared machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

"""Commands about jobs that run, and about the machine that they run on."""

"""Models as judges: each is a run of its own whose samples are answers about pairs of another run's drawings."""

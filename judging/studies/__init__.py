"""People from a link: what a study asks of them, in which order, and how each of them ends."""

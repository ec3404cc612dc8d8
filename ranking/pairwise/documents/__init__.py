"""The parts of a pairwise fit's document, by what they say."""

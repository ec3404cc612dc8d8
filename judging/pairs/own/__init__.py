"""What a judge sees of own answers: the last one, all of them, and the figures at the end."""

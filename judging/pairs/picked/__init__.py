"""Pairs that a curator picked for people, such as those on which they and a model judge differ: apart from every rating."""

"""Practice before judging: pairs with a known answer, told after each; no vote, and in no rating."""

"""Attention checks: pairs with a known answer, spread through a judge's pairs; no votes, and in no rating."""

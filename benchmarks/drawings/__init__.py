"""How drawings of each format are read, painted, rendered and measured."""

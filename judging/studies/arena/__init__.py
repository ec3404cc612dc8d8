"""The open arena: a study whose door is on the run's own pages. Its votes are a crowd's, beside the judges' board."""

"""Where the ORM meets numpy: a run's votes as columns, its tallies as cells, its samples and costs by entrant."""

"""A protocol of the tests' own, in the form that docs/leaderboards.md describes: two rooms, an entry and a migration."""

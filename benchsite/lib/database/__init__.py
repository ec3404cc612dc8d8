"""What the apps ask of a database beyond the ORM: prepared statements, snapshots, errors by their cause."""

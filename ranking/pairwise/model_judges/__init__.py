"""Model judges on a pairwise board: their figures as a document, from files and from the database, and their page."""

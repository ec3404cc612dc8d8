"""Model judges on a board of grades: their figures as a document, from files and from the database, and their page."""

"""Boards beside the judges': of an open arena's crowd, and of judges by group."""

"""What a study is, and how it is read from YAML."""

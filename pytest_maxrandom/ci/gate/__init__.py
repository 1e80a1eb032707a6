"""A gate in continuous integration: pytest on suites, and what is told of it to whom."""

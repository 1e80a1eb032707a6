"""Arms of a suite: each changes one thing, and two of them are compared on the same examples."""

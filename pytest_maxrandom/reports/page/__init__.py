"""The page: all claims of a run in one HTML file, each of which opens to its answers."""

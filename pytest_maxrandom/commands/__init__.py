"""One module per command: `add_parser` describes it, `run` returns what is printed."""

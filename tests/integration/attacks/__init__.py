"""What the author of a pull request may try against a gate, by what is attacked."""

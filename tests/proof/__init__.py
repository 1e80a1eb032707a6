"""Long proofs, through the product's own decisions: what a green run means.

A cut of each runs in `make check`; `make proof` runs them whole and prints the figures that
stand in docs/explanation/what-a-green-run-means.md. `make tables` prints larger tables.
"""

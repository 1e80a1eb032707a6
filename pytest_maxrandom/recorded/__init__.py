"""Predictions that exist already: one reader per kind of file, all giving recorded sweeps.

===============  ==================================================
``sweep``        `RecordedSweep`, and numbers of choices for it
``read``         a file of any known kind
``npz``          NumPy archives of right and wrong answers
``lines``        what a line of a predictions file holds
``predictions``  files that ``--maxrandom-predictions`` wrote
===============  ==================================================
"""

"""Results that exist already: readers that give `Answers` or published maxima.

===============  ===================================================================
``sources``      where a suite says that results are; a reader for each format; numbers of choices
``npz``          NumPy archives of answers, or of which were right
``tables``       CSV, JSONL and Parquet: one row for each answer, or for each published maximum
``logs``         logs of lm-evaluation-harness and of Inspect
``predictions``  files that ``--maxrandom-predictions`` wrote
===============  ===================================================================
"""

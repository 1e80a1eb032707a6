"""Results that exist already: readers that give `Answers` or maxima, and claims about them.

===============  ===================================================================
``sources``      where a suite says that results are; a reader for each format
``arrays``       NumPy archives of answers, or of which were right
``tables``       CSV, JSONL and Parquet: one row for each answer, or for each published maximum
``logs``         logs of lm-evaluation-harness and of Inspect
``lines``        what a line of a predictions file holds
``predictions``  files that ``--maxrandom-predictions`` wrote
``read``         a file of a kind that tells which prompt was right, by its ending
``arms``         right answers of several arms, counted by task and replicate (no sweeps)
``plan``         from a suite to its claims (``claims``), before any is judged
``evidence``     what a claim is judged by: counts and guessers (``guessers``), a publication
                 (``published``) and the differences from it (``changes``)
``seen``         what red flags are found in
``evaluation``   from there to the record of a claim
===============  ===================================================================
"""

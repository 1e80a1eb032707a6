"""The ways to put requests through a model of Hugging Face transformers.

They give the same log-likelihoods and differ in what they forward:

* ``packed``: every distinct token once, many examples as trees in one row.
* ``rows``: the prompt once, every question once, then one row per answer.
* ``plain``: one row per text, as the code of arXiv 2404.13020.
"""

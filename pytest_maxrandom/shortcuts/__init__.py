"""Ways to look knowing without reading the question, put beside each claim.

==============  ================================================================
``heuristics``  what fixed rules reach: the longest choice, the most frequent label
``blank``       examples without their question, for the control `choices_only`
``compare``     the best prompt beside both
==============  ================================================================
"""

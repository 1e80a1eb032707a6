"""The statistics of the best of t random guessers; needs nothing but NumPy.

Import names from the modules: this package loads none of them by itself, so that a program
which asks for one number starts at once.

=====================  ==========================================================
``chances``            what a user may give as the chance of one guess
``window``             probability masses of counts where they matter, to full precision
``tilt``               tail probabilities far outside that window
``counts``             number correct of one guesser
``best_of``            best of several guessers, whatever the single guesser is
``maximum``            `MaxRandomBaseline` and `BestOfPrompts`
``variants``           minimum over variants, then best of t
``compat``             the functions of the package max-random-baseline
``gold``               right answers, one or several
``hits``               which answers are right
``permutation``        max-T permutation test
``statistic``          what it takes the best of: accuracy, balanced accuracy, macro-F1, lift
``majority``           constant answers
``multiplicity``       many claims at once
``looks``              many looks at a claim whose t grows
``selection``          expected maximum of t of N prompts
``winner``             what the best of t prompts is worth on new questions
``metrics``            balanced accuracy and macro-F1
``labels``             whether answers follow the question or the label
``sizes``              sample sizes, power, largest t
``intervals``          confidence interval of an accuracy
``clusters``           what examples that belong together are worth
``holdout``            does "above the baseline" predict "above chance" on other examples
``signflip``           sign-flip test and interval of a mean of paired differences
``paired``             two arms on the same examples: differences by task, McNemar's test
``noncentral``         effect of an arm in log odds, given the total of each pair
``replication``        what single replicates would have concluded
``planning``           the answers of `sizes` in plain numbers, for a table or JSON
=====================  ==========================================================
"""

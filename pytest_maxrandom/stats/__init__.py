"""The statistics of the best of t random guessers; needs nothing but NumPy.

Import names from the modules: this package loads none of them by itself, so that a program
which asks for one number starts at once.

=================  ==============================================================
``chances``        what a user may give as the chance of one guess
``counts``         number correct of one guesser
``best_of``        best of several guessers, whatever the single guesser is
``maximum``        `MaxRandomBaseline`, `BestOfPrompts`, the best of t in other
                   scores, and the functions of the package max-random-baseline
``metrics``        balanced accuracy, macro-F1, and the best of t in them
``gold``           right answers, one or several
``majority``       the best constant answer
``arranged``       best scores with other right answers that might have been
``permutation``    max-T permutation test
``matching``       the same p-value of one prompt, by a formula
``learnt``         chance where there are no choices, learnt from shuffled references
``clustered``      the same where examples form clusters of unequal size
``compared``       things that examples compare, and whether some prevail
``orders``         the same where examples compare things that recur
``order``          right answers, and others, that follow the order of examples
``exchanges``      which of these tests right answers call for
``labels``         whether answers follow the question or the label
``multiplicity``   many claims at once
``looks``          many looks at a claim whose t grows
``search``         as the best of how many a search's prompts are judged
``selection``      expected maximum of t of N prompts
``winner``         what an accuracy, or the best of t, is worth on new questions
``clusters``       what examples that belong together are worth
``copies``         examples that are answered as copies of each other are
``repeats``        whether few prompts are right on the same examples too often
``rules``          whether a fixed rule is right by luck
``sizes``          sample sizes, power, largest t, and plans made of them
``differences``    sign-flip test and interval of a mean of paired differences, and a
                   test for differences that may be rare and skewed
``regressions``    whether answers got worse
``judged_losses``  what that shows once chance and looks are paid for
``losses``         how often a loss would be found, and from what n
``paired``         two arms on the same examples, McNemar's test
``incumbents``     the best of t candidates beside what runs today
``best_models``    which of several models, each at its best, may be the best
``model_rises``    the same where examples are drawn anew
``score_pairs``    an exact test of the difference of two prompts' scores
``bounded``        whether the mean of scores between 0 and 1 is above a bound
``score_sizes``    how many scores show that
``samples``        several answers to one question: mean, vote, pass@k, all
``sample_chance``  guessers who gave the same samples, and the best of t of them
``components``     noise of prediction and noise of data in them
``noncentral``     effect of an arm in log odds, given the total of each pair
``replication``    what single replicates would have concluded
``seeding``        random choices that are the same on every machine
=================  ==============================================================
"""

"""Labels: whether answers follow the question or the label, and how that would look by chance.

===============  ==================================================================
``scores``       recalls, Nvr-X scores, placements of right answers
``guessers``     guessers who are put through the same
``null``         the best of t of them
``finding``      knowledge, label preference, or cannot tell
``base_rate``    what a model thinks of the labels without a question
``calibration``  scores without that
``limits``       from where on such numbers say something; needs no NumPy
===============  ==================================================================
"""

"""Comments on the pull requests of a forge: one for each key, created once and then updated.

::

    publish     which comment is ours, and whether it is created, updated or left alone
    markers     how a comment is known again
    events      which pull request a job on GitHub is about
    github, gitlab      the part of their interfaces that is used here
    http        requests that are repeated where that is safe
    waits       when they are
"""

"""What notebooks and scripts call: claims about tables in memory, and reports that were written.

No pytest is needed, and none is imported.
"""

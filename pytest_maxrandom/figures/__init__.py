"""Figures for papers, after those of arXiv 2404.13020; one module for each family.

Import what you need from the modules: all but `available` load matplotlib, which is an extra.
"""

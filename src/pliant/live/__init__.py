"""Mechanisms that run in a browser: the module, its memory, and the page around it."""

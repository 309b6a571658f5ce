"""Nightly triage with repro-minify: from a folder of models to a list of bugs."""

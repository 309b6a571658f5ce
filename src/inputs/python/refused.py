"""The exception that tells the person who gave a file what is wrong with it."""


class Refused(Exception):
    """One sentence without the file's name in front: what it is, and what to do."""

"""What is wrong with a file, for the person who gave it."""


class Refused(Exception):
    """One sentence without the file's name in front: what it is, and what to do."""

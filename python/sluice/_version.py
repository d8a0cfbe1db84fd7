"""The version of this package; a library of another minor version is refused."""
__version__ = "0.2.0"

"""Of this package; a library of another minor version is refused."""
__version__ = "0.1.0"

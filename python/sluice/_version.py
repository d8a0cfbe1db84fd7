"""The version of Sluice, its library and this package. A library of another minor version is refused."""
__version__ = "0.2.0"

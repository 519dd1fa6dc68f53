"""The version of the interface that this package speaks; the library's has to agree."""

__version__ = "0.1.0"

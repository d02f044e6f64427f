"""Pooling: the functions and the layers."""

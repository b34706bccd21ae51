"""Prices the orders of a bookshop."""

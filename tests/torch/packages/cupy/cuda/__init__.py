"""A package, as CuPy has it."""

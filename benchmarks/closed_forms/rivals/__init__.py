"""How the same is derived elsewhere, one way a file; each is imported only in the process that runs it."""

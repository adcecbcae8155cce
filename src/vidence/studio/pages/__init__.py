"""Views, one file a family of screens; each has its addresses, with who may see them, in ``urls``."""

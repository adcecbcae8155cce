"""Clusters, an optional wing. Each file is one executor, found by the prefix of `--on`."""

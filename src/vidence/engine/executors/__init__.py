"""Where the work of a session is done: on this machine, or on those of a Ray cluster."""

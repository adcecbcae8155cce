"""Why a score is what it is. One file is one diagnostic; its name is the name of the file."""

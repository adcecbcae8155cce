"""Who answers. One file is one provider; its name is the name of the file."""

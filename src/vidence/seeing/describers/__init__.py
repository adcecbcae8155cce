"""Pictures of people and things -> vectors that are near for the same one: one file for each way."""

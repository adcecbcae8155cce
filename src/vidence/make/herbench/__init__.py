"""The stages of HERBench's maker."""

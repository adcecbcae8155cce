"""Describers: pictures of people and things as vectors that are close for the same one."""

"""Describers: pictures of people and things as vectors that are near for the same one."""

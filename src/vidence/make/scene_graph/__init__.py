"""Scenes, vocabularies and compositions: what composed questions are made of and proved against."""

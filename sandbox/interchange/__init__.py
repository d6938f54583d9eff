"""Transcripts that someone else recorded, read into our words: one module for each format."""

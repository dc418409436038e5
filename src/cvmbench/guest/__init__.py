"""The guest: its image, the connection to it, and the proof that it is what it claims."""

"""The campaign file: its model, its presets, and its expansion into a plan."""

"""Joint selection: one draw chooses all k at once, in exact law."""

"""Pages for people, JSON for programs; both say the same."""

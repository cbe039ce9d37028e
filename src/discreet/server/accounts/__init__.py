"""Who may do what: accounts with a role, sessions, tokens, one-time links."""

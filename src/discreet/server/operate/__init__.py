"""Running the server like other software: its home, its health, its copies."""

"""What it cost: events, their composition, and the smallest noise for a budget."""

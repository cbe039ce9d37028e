"""What the data says: scores, their null law, and how far one person can move them."""

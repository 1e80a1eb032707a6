"""What continuous integration runs, and what it tells a forge."""

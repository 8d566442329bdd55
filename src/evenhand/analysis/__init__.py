"""What each paper asks of the outcomes, answered as tidy rows."""

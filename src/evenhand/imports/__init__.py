"""Materials made elsewhere, brought in as runs."""

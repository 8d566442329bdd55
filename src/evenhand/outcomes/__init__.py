"""The one table that all analysis reads: its schema, its checks and its doors to files."""

"""What a reader sees: one page, its figures and tables, and a summary. It computes no statistic."""

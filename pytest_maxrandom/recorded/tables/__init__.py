"""Tables in CSV, JSONL and Parquet: one row for each answer, or for each published maximum."""

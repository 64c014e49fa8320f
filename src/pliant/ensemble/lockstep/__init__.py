"""Members of an ensemble side by side: in vectors on a processor, in threads on a GPU."""

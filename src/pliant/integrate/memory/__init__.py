"""The memory of a run: the record that compiled functions read, and the arrays it points to."""

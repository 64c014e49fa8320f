"""Object code: kept on disk by content, loaded into memory, for whatever processor this is."""

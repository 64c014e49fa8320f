"""Parameters fitted to measurements, and designs optimised."""

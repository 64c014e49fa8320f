"""Mechanisms for other programs: functional mock-up units, C for a target. Nothing else imports from here."""

"""Many runs: sweeps over numbers of a mechanism."""

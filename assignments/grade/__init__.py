"""Grade answers: call each on probes, compare, and store the results."""

"""Generate oral questions about a student's own code: change a line, and ask what the change does."""

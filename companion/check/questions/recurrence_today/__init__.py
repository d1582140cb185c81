"""Questions of the assignment `recurrence_today`: scans, the delta rule, chunks, and streams in pieces."""

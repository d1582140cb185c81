"""The search: its index and its page's script."""

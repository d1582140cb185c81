"""Questions of the bank on the pages."""

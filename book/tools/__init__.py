"""Authors' commands: run notebooks, hold translations to the English text, draw pictures."""

"""Exams from the bank of questions: papers for students, and their key. The command is `make exam`."""

"""Run students' code in a process that can do nothing but compute."""

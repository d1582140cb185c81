"""Questions of an instructor's own: checked before they are used, set as notebooks, and graded.

`companion/check/own` explains the form of a file and reads it. trials.py runs the reference and the mistakes, and
refuses a question that could not be graded fairly; stored.py keeps the files that grades were made with; notebooks.py
writes the students' notebooks; `python -m assignments.own FOLDER` tries all of it and says what it found.
"""

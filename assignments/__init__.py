"""Grade submissions, one folder for each step:

    read      files → notebooks → answers
    sandbox   run an answer in a process of its own
    grade     compare its outputs with the right ones, and store the result
    report    pages and tables
    lms       class lists, due dates, uploads

`submission.py` grades one submission with these steps, `batch.py` a folder of submissions, and `cli.py` reads the
command
line: python -m assignments SUBMISSIONS --output grades/
"""

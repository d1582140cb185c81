"""Grade submissions, with one folder for each step.

    read      files → notebooks → answers
    sandbox   run an answer in its own process
    grade     compare its outputs with the expected ones, and cache the result
    report    pages and tables
    lms       class lists, due dates, uploads

`submission.py` grades one submission with these steps, `batch.py` a folder of submissions, and `cli.py` reads the
command line: python -m assignments SUBMISSIONS --output grades/
"""

"""Write the results: pages for students and instructors, tables, nbgrader's gradebook."""

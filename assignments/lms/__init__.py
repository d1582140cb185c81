"""Read and write the files of Canvas and Moodle: class lists, grades, due dates."""

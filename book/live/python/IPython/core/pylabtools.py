"""Windows that drawings could have: on a page there are none."""

backend2gui = {}

"""Which languages have to be whole: those of the finished editions. One that is begun may lack words and pages."""

from editions import editions

FINISHED = [edition.language for edition in editions() if not getattr(edition, "draft", False)]

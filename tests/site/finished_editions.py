"""Which languages have to be whole: those of the finished editions. One that is begun may lack words and pages."""

from book.editions import finished

FINISHED = [edition.language for edition in finished()]

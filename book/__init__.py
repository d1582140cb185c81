"""The book: the editions, and the programs that build it (`site`), run its cells (`live`) and help its authors
(`tools`)."""

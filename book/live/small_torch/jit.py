"""Nothing is compiled here."""


def is_tracing():
    return False


def is_scripting():
    return False

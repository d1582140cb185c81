"""There is no graphics card here."""


def is_available():
    return False


def device_count():
    return 0


def manual_seed_all(seed):
    """Nothing: there are none."""


manual_seed = manual_seed_all


def get_rng_state_all():
    return []


def set_rng_state_all(states):
    """Nothing: there are none."""


def synchronize():
    """Nothing: whatever was asked is done."""

"""What is asked of torch's inside. Here nothing is transformed, and nothing is compiled."""


def _are_functorch_transforms_active():
    return False


def _get_mkldnn_enabled():
    return False

_chosen = None


def chosen():
    """The kernels of models that are loaded from now on, or None before the first."""
    return _chosen


def choose(module):
    """Makes `module` the kernels; choice.use checks it first."""
    global _chosen
    _chosen = module

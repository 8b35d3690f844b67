"""Runs on the workers of a Dask cluster (optional extra ``cluster``).

Every worker needs this project, built, and the data sets; results are kept on this computer.
"""

from .. import extras


def unordered(function, arguments, scheduler):
    """Results of function(argument) as they come; scheduler: address such as tcp://host:8786.

    OSError if there is none at that address, ImportError without the package.
    """
    try:
        import distributed
    except ImportError:
        raise extras.missing("--dask needs the package distributed", "cluster") from None
    with distributed.Client(scheduler, timeout=10) as client:
        futures = client.map(function, arguments, pure=False)
        for future in distributed.as_completed(futures):
            yield future.result()

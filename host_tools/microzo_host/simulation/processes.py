"""A function over many arguments in processes here; one that dies takes no other along."""

import concurrent.futures
import multiprocessing

DIED = "its process died; it may need more memory than there is: give fewer --jobs"


def side_by_side(function, arguments, processes, died=None):
    """Results of function(argument), in any order; one process: in this one.

    died(argument): the result in place of one whose process died; None: RuntimeError then.
    """
    arguments = list(arguments)
    if processes == 1 or not arguments:
        yield from map(function, arguments)
        return
    left = yield from _together(function, arguments, min(processes, len(arguments)))
    for argument in left:  # one of them ended the others' processes, too
        if (yield from _together(function, [argument], 1)):
            if died is None:
                raise RuntimeError(DIED)
            yield died(argument)


def _together(function, arguments, processes):
    """Yields results; the arguments that have none because a process died."""
    context = multiprocessing.get_context("spawn")
    left = []
    with concurrent.futures.ProcessPoolExecutor(processes, context) as pool:
        futures = {pool.submit(function, argument): argument for argument in arguments}
        try:
            for future in concurrent.futures.as_completed(futures):
                try:
                    result = future.result()
                except concurrent.futures.BrokenExecutor:
                    left.append(futures[future])
                else:
                    yield result
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return left

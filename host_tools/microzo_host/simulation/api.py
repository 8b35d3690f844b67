"""The simulator for notebooks: microzo_host.simulate."""

import tempfile

from .. import extras, place
from . import own as owned
from . import results, runs
from . import sweep as sweeps


def simulate(
    recipes="default", *, model=None, train=None, test=None, data="mnist", corruptions=(),
    seeds=(0,), changes=(), test_images=2000, jobs=1, cache=None, dask=None, curves=False,
    progress=None,
):  # fmt: skip
    """Trains with recipes on this computer, with the bits of a board; a pandas.DataFrame.

    One row a run: each of `recipes` under each of `corruptions` with each of `seeds`. The columns
    are those of `microzo simulate`, see docs/reference/simulate.md. With ``curves=True`` one row a
    step: corruption, severity, seed, recipe, number, stage, step, loss (nats) and accuracy (per
    cent) of the step's own samples.

    Args:
        recipes (str | dict | list): a name, a dict, or several.
        model (str): a .safetensors file; without it the data set `data`, with its network.
        train (pair): samples (uint8, N x rows x columns x channels) and labels (integers, N),
            two arrays or two .npy files.
        test (pair): samples and labels to test on.
        data (str): "mnist" or "fashion".
        corruptions (str | list): such as "fog" or "fog:5"; "clean" is none.
        seeds (list[int]): integers from 0 on.
        changes (list[str]): settings, such as "spsa.steps=50".
        test_images (int): of the test, at most so many.
        jobs (int): runs at a time; a script that is no notebook needs its
            ``if __name__ == "__main__":`` for more than one.
        cache (str): folder of finished runs, which are not run again.
        dask (str): address of a scheduler, or a cluster.Cluster with its TLS files.
        curves (bool): one row a step.
        progress (function): None, or called with (done, total) after every new run.

    A run that fails has its sentence in the column ``error``; the others go on. ValueError: an
    unknown recipe, corruption or setting, or files that do not fit; ImportError: no pandas.
    """
    try:
        import pandas
    except ImportError:
        raise extras.missing("microzo_host.simulate gives a table of pandas", "tables") from None
    several = [recipes] if isinstance(recipes, str | dict) else list(recipes)
    corruptions = [corruptions] if isinstance(corruptions, str) else list(corruptions)
    cache = cache or place.output("simulate")
    with tempfile.TemporaryDirectory() as folder:
        own = None if model is None else owned.of(model, train, test, folder)
        sweep = sweeps.of(several, changes, corruptions, seeds, data, own, test_images)
        before = sweep.before(cache, 1)
        planned = sweep.runs()
        done = []

        def tell(run):
            done.append(run)
            progress(len(done), len(planned))

        finished = runs.collect(planned, cache, jobs, tell if progress else None, dask)
    if curves:
        return pandas.DataFrame(
            results.steps(planned, finished), columns=list(results.STEP_COLUMNS)
        )
    return pandas.DataFrame(results.rows(planned, finished, before), columns=list(results.COLUMNS))

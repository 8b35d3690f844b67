"""Runs on the workers of a Dask cluster (optional extra ``cluster``).

Every worker needs this project, built, in the same version, and the data sets; files of the user's
own are sent to it. Results are kept on this computer.
"""

import contextlib
import dataclasses
import platform

import microzo

from .. import extras
from . import own, store

CONNECTING = 10  # s
RETRIES = 2  # of a run whose worker is lost


@dataclasses.dataclass(frozen=True)
class Cluster:
    """address: of a scheduler, such as tcp://host:8786 or tls://host:8786; ca, certificate, key:
    PEM files for TLS, or "" for none."""

    address: str
    ca: str = ""
    certificate: str = ""
    key: str = ""

    def security(self, distributed):
        """The Security of distributed, or None; ValueError for half of one."""
        files = self.ca, self.certificate, self.key
        if not any(files):
            if self.address.startswith("tls://"):
                raise ValueError(
                    f"{self.address} needs certificates: give --dask-ca, --dask-cert, --dask-key"
                )
            return None
        if not all(files):
            raise ValueError("TLS takes three files: --dask-ca, --dask-cert and --dask-key")
        for path in files:
            open(path, "rb").close()  # else distributed's error names no file
        return distributed.Security(
            tls_ca_file=self.ca, tls_client_cert=self.certificate, tls_client_key=self.key,
            require_encryption=True,
        )  # fmt: skip


def version():
    """What must be alike here and on a worker."""
    return {
        "microzo": microzo.__version__,
        "package": store.device().hex()[:12],
        "simulator": store.digest(sorted(store.HERE.glob("simulation/*.py"))).hex()[:12],
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }


@contextlib.contextmanager
def connected(cluster):
    """A Client of a Cluster, or of an address, whose workers are what we need.

    OSError if there is no cluster at that address, ImportError without the package, ValueError
    for workers of another version.
    """
    distributed = _distributed()
    if isinstance(cluster, str):
        cluster = Cluster(cluster)
    security = cluster.security(distributed)
    with distributed.Client(cluster.address, timeout=CONNECTING, security=security) as client:
        check(client)
        yield client


def unordered(function, arguments, cluster, lost, files=None):
    """Results of function(argument) as they come; cluster: a Cluster, or an address.

    lost(argument, why): the result of one whose workers were lost, again and again. files: of
    own.contents. Errors: those of `connected`.
    """
    with connected(cluster) as client:
        # A task, not scattered data: a lost worker's copy is made again.
        sent = client.submit(dict, files or {}, pure=False)
        futures = client.map(_perform, arguments, function=function, files=sent, pure=False,
                             retries=RETRIES)  # fmt: skip
        of = dict(zip(futures, arguments))
        for future in _distributed().as_completed(futures):
            if future.status == "error":
                yield lost(of[future], _why(future.exception()))
            else:
                yield future.result()
            del of[future]


def check(client):
    """ValueError unless there are workers, and all have our version."""
    ours = version()
    versions = client.run(version, on_error="return")
    if not versions:
        raise ValueError("the cluster has no workers: start one with `dask worker ADDRESS`")
    for address, theirs in sorted(versions.items()):
        if isinstance(theirs, Exception):
            raise ValueError(
                f"the worker {address} cannot load microzo ({theirs}): install it there, built, "
                f"in this version"
            )
        differing = [name for name in ours if theirs.get(name) != ours[name]]
        if differing:
            pairs = [f"{name} {theirs.get(name)}, here {ours[name]}" for name in differing]
            raise ValueError(
                f"the worker {address} has another version ({'; '.join(pairs)}): install the same "
                f"on both"
            )


def _distributed():
    try:
        import distributed
    except ImportError:
        raise extras.missing("--dask needs the package distributed", "cluster") from None
    return distributed


def _perform(argument, function, files):
    own.hold(files)
    return function(argument)


def _why(error):
    if type(error).__name__ == "KilledWorker":
        return "its workers were lost, one after another: see what they print"
    return f"{type(error).__name__}: {error}"

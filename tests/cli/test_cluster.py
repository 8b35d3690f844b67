"""`microzo simulate --dask`: versions of the workers, lost workers, TLS."""

import os
import pathlib
import shutil
import subprocess

import pytest

import microzo
from microzo_host.simulation import cluster as clusters
from microzo_host.simulation import own, runs, sweep

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.slow
OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0"}


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(n_workers=2, **OPTIONS) as workers:
        yield workers.scheduler_address


def test_own_files_are_sent_to_the_workers(address, model_path, data_paths, tmp_path):
    """Workers find no file: what `hold` gave them is all they have."""
    changes = ["spsa.steps=2", "samples=20", "spsa.guard="]
    one = own.of(model_path, data_paths, data_paths)
    planned = sweep.of(["spsa"], changes, seeds=[0, 1], own=one).runs()
    there = runs.collect(planned, tmp_path / "a", 0, cluster=address)
    assert there == runs.collect(planned, tmp_path / "b", 1)
    files = own.contents(one)
    moved = own.Own("/nowhere/model", ("/nowhere/x", "/nowhere/y"), ("/nowhere/t", "/nowhere/u"),
                    one.shape, one.digest)  # fmt: skip
    sent = dict(zip(moved.paths, [files[path] for path in one.paths]))
    (accuracy,) = clusters.unordered(_samples, [moved], address, None, sent)
    assert accuracy == 60


def _samples(moved):
    return len(moved.adaptation()[1])


def test_workers_of_another_version_are_refused(address, monkeypatch):
    monkeypatch.setattr(microzo, "__version__", "9.9.9")
    with pytest.raises(ValueError, match=r"microzo \S+, here 9.9.9\): install the same on both"):
        list(clusters.unordered(str, [1], address, None))


def test_a_cluster_without_workers_is_told():
    with distributed.LocalCluster(n_workers=0, **OPTIONS) as empty:
        with pytest.raises(ValueError, match="no workers: start one"):
            list(clusters.unordered(str, [1], empty.scheduler_address, None))


def _once(marker):
    """Kills its worker, the first time."""
    if not os.path.exists(marker):
        pathlib.Path(marker).touch()
        os._exit(1)
    return marker


def _kills_or_doubles(argument):
    if argument == 3:
        os._exit(1)
    return 2 * argument


def test_a_run_of_a_lost_worker_starts_again(address, tmp_path):
    markers = [str(tmp_path / "a")]
    assert list(clusters.unordered(_once, markers, address, None)) == markers


def test_a_run_that_loses_every_worker_does_not_end_the_sweep(address):
    def lost(argument, why):
        return f"{argument}: {why}"

    made = list(clusters.unordered(_kills_or_doubles, [1, 2, 3], address, lost))
    assert sorted(map(str, made)) == [
        "2", "3: its workers were lost, one after another: see what they print", "4"
    ]  # fmt: skip


def test_tls(tmp_path, model_path, data_paths):
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificates")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", key, "-out", cert, "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                   capture_output=True)  # fmt: skip
    security = distributed.Security(
        tls_ca_file=str(cert), require_encryption=True,
        **{f"tls_{who}_{what}": str(path) for who in ("client", "scheduler", "worker")
           for what, path in (("cert", cert), ("key", key))},
    )  # fmt: skip
    with distributed.LocalCluster(n_workers=1, security=security, protocol="tls", **OPTIONS) as c:
        assert c.scheduler_address.startswith("tls://")
        ours = clusters.Cluster(c.scheduler_address, str(cert), str(cert), str(key))
        assert list(clusters.unordered(str, [7], ours, None)) == ["7"]
        with pytest.raises(ValueError, match="needs certificates: give --dask-ca"):
            list(clusters.unordered(str, [7], c.scheduler_address, None))
    with pytest.raises(ValueError, match="TLS takes three files"):
        clusters.Cluster("tls://127.0.0.1:1", str(cert)).security(distributed)
    with pytest.raises(FileNotFoundError, match="nothere"):
        clusters.Cluster("tls://127.0.0.1:1", "nothere", str(cert), str(key)).security(distributed)

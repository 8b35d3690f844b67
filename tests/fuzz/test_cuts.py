"""The power goes at any moment of a run, again and again: it ends in the same bits."""

import machine
import pytest
import sim_disk

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", sim_disk.KINDS)
def test_simulated_disks(kind):
    machine.worker("cut_worker.py", kind, machine.count(60, 1500))


@pytest.mark.parametrize("fs", ["LFS", "FAT"])
def test_the_real_file_systems(fs):
    machine.worker("vfs_cuts.py", fs, machine.count(10, 400))

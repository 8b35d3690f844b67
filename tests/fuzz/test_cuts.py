"""The power goes at any moment of a run, again and again: it ends in the same bits."""

import machine
import pytest
import sim_disk

pytestmark = pytest.mark.slow


# Part 6 of the device side mends both: a file that is replaced is not synced before its rename,
# and a checkpoint that a cut interrupts leaves its .tmp behind.
@pytest.mark.xfail(strict=False, reason="replaced files: no fsync, .tmp stays behind after a cut")
@pytest.mark.parametrize("kind", sim_disk.KINDS)
def test_simulated_disks(kind):
    machine.worker("cut_worker.py", kind, machine.count(60, 1500))


@pytest.mark.xfail(strict=False, reason=".tmp stays behind after a cut of a checkpoint")
@pytest.mark.parametrize("fs", ["LFS", "FAT"])
def test_the_real_file_systems(fs):
    machine.worker("vfs_cuts.py", fs, machine.count(10, 400))

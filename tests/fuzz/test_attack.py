"""`python -m tests.fuzz.attack`: few calls of each core, and that it sees a fault."""

import json
import shutil
import struct

import attack
import machine
import pytest

pytestmark = pytest.mark.slow
GUARDS = {  # whether a spoilt entry is seen where buffers end, and begin, at a guard page
    "reads behind": (True, False), "reads before": (False, True), "writes behind": (True, True),
    "writes before": (True, True), "writes to an r": (True, True),
    "raises and writes": (True, True),
}  # fmt: skip


@pytest.fixture(scope="module", params=attack.TARGETS)
def target(request):
    try:
        return attack.Target(request.param)
    except attack.Missing as error:
        pytest.skip(str(error))


def test_spoilt_entries_are_seen(target):
    """Buffers of whole words end at the guard page; ASan sees reads on both sides."""
    everywhere = target.name in attack.X64
    for number, name in enumerate(attack.SPOILT, len(target.table)):
        for place in (0, 1):
            call = bytes([number, place, 0, 4, 0]) + struct.pack("<3I", 8, 0, 8) + bytes(8)
            answers, ended = target._answers([call])
            seen = not answers or any(bits for _, rows in answers for _, bits in rows)
            assert seen == (GUARDS[name][place] or everywhere), (name, place, ended)


def test_few_calls(target):
    count = machine.count(250, 20_000)
    made = 0
    while made < count:
        _, cases = next(attack.fuzz.rounds(machine.SEED * 1000 + made, min(count, attack.ROUND)))
        done, findings = target.run(cases)
        assert findings == [], "\n".join(findings)
        made += done


def test_an_attack_goes_on_where_it_stopped(tmp_path):
    class Counter:
        name, rounds = "counter", []

        def run(self, cases, say):
            self.rounds.append(len(cases))
            return len(cases), ["a finding"] if len(self.rounds) == 1 else []

    path = tmp_path / "attack.json"
    first = attack.attack([Counter()], 5, 1000, path)
    assert (first["round"], first["done"]) == (1, {"counter": 1000})
    again = attack.attack([Counter()], 5, 3000, path)
    assert (again["round"], again["done"]) == (3, {"counter": 3000})
    assert again["findings"] == json.loads(path.read_text())["findings"] == ["seed 5, a finding"]
    other = attack.attack([Counter()], 6, 1000, path)
    assert (other["round"], other["findings"]) == (1, [])
    assert Counter.rounds == [1000] * 4


def test_this_machine_says_what_it_lacks(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(attack.Missing, match="apt-get install qemu-user-static"):
        attack.Target("m4")

"""Checkpoints: their content; damage and foreign streams are refused in one line."""

from pathlib import Path

import pytest

from cepbench.pipeline.live.state import Checkpoint, UnusableCheckpoint, batch_name

STREAM = {"algorithm": "cogra", "watermark": 10}


def test_the_last_two_batches_are_kept(tmp_path: Path) -> None:
    store = Checkpoint(tmp_path, STREAM)
    store.begin()
    assert store.latest() is None
    for number in range(5):
        store.save(batch_name(number), "0-0", number)
        store.save(batch_name(number), "intake", [number])
        store.forget(number)
    assert sorted(file.name for file in (tmp_path / "state").iterdir()) == ["00000003", "00000004"]
    assert (store.latest(), store.load(batch_name(4), "0-0"), store.ended) == (4, 4, False)
    store.save(batch_name(5), "0-0", 5)  # of a batch that was cut off
    assert store.latest() == 4
    Checkpoint(tmp_path, dict(STREAM)).begin()


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "gone", "of another stream"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    store = Checkpoint(tmp_path, STREAM)
    store.save("00000000", "0-1", list(range(100)))
    file = tmp_path / "state" / "00000000" / "0-1"
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "of another stream":
        Checkpoint(tmp_path, {"algorithm": "sase"}).save("00000000", "0-1", list(range(100)))
    else:
        changed = {"flipped": content[:-5] + bytes([content[-5] ^ 1]) + content[-4:], "cut": content[:-1], "empty": b""}
        file.write_bytes(changed[damage])
    with pytest.raises(UnusableCheckpoint, match=rf"^{file}: .*the checkpoint is damaged") as error:
        store.load("00000000", "0-1")
    assert "\n" not in str(error.value)


def test_another_stream_is_refused(tmp_path: Path) -> None:
    Checkpoint(tmp_path, STREAM).begin()
    with pytest.raises(UnusableCheckpoint, match="of another stream: watermark is 10, not 11; choose another folder"):
        Checkpoint(tmp_path, STREAM | {"watermark": 11}).begin()
    file = tmp_path / "stream.json"
    file.write_text(file.read_text().replace("cogra", "greta"))
    with pytest.raises(UnusableCheckpoint, match=r"stream\.json: the checkpoint is damaged"):
        Checkpoint(tmp_path, STREAM).begin()
    (tmp_path / "spark").mkdir()
    file.unlink()
    with pytest.raises(UnusableCheckpoint, match=r"stream\.json: is missing; the checkpoint is damaged"):
        Checkpoint(tmp_path, STREAM).begin()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        Checkpoint(tmp_path, STREAM).locked(),
        pytest.raises(UnusableCheckpoint, match="another process uses the checkpoint"),
        Checkpoint(tmp_path, STREAM).locked(),
    ):
        pass

"""Messages between repro-minify and its Python worker (wire.py): what goes in comes out, what is no message is refused
before memory is asked for.

    inductor_wire.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import json
import socket
import struct
import sys
import threading
import unittest

sys.path.insert(0, sys.argv.pop(1))

import torch

import wire


def frame(header, *blobs):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)


def received(sent):
    """Returns what receive() makes of these bytes and the end of the stream."""
    ours, theirs = socket.socketpair()
    with ours:
        sender = threading.Thread(target=lambda: (theirs.sendall(sent), theirs.close()))
        sender.start()
        try:
            return wire.receive(ours)
        finally:
            sender.join()


class CannotBeSent(unittest.TestCase):
    """Results that say nothing of TorchInductor: there are no words for them."""

    def test_what_has_no_words(self):
        sparse = torch.eye(2).to_sparse()
        quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
        for result in (sparse, quantised, torch.ones(2, device="meta"), [sparse], {1, 2}):
            with self.assertRaises(wire.CannotSend):
                wire.Writer().value(result)


class Refused(unittest.TestCase):
    def assert_garbled(self, sent, why):
        with self.assertRaisesRegex(wire.Garbled, why):
            received(sent)

    def test_a_header_of_any_length_above_the_bound(self):
        for length in (wire.MOST_HEADER_BYTES + 1, 1 << 40, (1 << 64) - 1):
            self.assert_garbled(struct.pack("<Q", length), f"a header of {length} bytes")

    def test_a_blob_of_any_length_out_of_bounds(self):
        for length in (wire.MOST_BLOB_BYTES + 1, 1 << 63, -1, 1.5, "8", None, True, [8]):
            self.assert_garbled(frame({"blobs": [length]}), "a blob of")

    def test_what_is_no_header(self):
        for text in (b"", b"{", b"\xff\xfe", b"nonsense", b"[" * 100_000):
            self.assert_garbled(frame(text), "no JSON")

    def test_a_header_without_blobs(self):
        for header in ({}, [], 7, None, "blobs", {"blobs": 3}, {"blobs": {}}, {"blobs": None}):
            self.assert_garbled(frame(header), "names no blobs")

    def test_the_stream_ends_anywhere(self):
        whole = frame({"blobs": [4]}, b"1234")
        for length in range(len(whole)):
            with self.assertRaises(wire.Closed):
                received(whole[:length])


class Kept(unittest.TestCase):
    def test_a_frame(self):
        header, blobs = received(frame({"blobs": [4, 0], "ask": "run"}, b"1234"))
        self.assertEqual(header["ask"], "run")
        self.assertEqual([bytes(blob.tolist()) for blob in blobs], [b"1234", b""])

    def test_what_was_sent(self):
        base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        values = [
            base.t()[1:, ::2],
            base,
            torch.empty(0, 3, dtype=torch.bool),
            None,
            True,
            -7,
            0.1,
            float("inf"),
            2 - 1j,
        ]
        values += ["a\nb\0", (1, [2.5]), {"k": torch.tensor(1, dtype=torch.uint8)}]
        ours, theirs = socket.socketpair()
        with ours, theirs:
            writer = wire.Writer()
            written = [writer.value(value) for value in values]
            wire.send(theirs, {"values": written}, writer.blobs)
            header, blobs = wire.receive(ours)
        reader = wire.Reader(blobs)
        for value, again in zip(values, [reader.value(data) for data in header["values"]], strict=True):
            if isinstance(value, torch.Tensor):
                self.assertTrue(torch.equal(value, again))
                self.assertEqual((value.stride(), value.dtype), (again.stride(), again.dtype))
            elif isinstance(value, dict):
                self.assertTrue(torch.equal(value["k"], again["k"]))
            else:
                self.assertEqual(value, again)
        self.assertEqual(len(blobs), 3)  # the first two tensors share a storage


if __name__ == "__main__":
    unittest.main()

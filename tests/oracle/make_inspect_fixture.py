#!/usr/bin/env python3
"""Writes small Inspect logs, sound and hostile, for the tests of ingest.

    make_inspect_fixture.py FOLDER

Zip archives are written byte by byte, because the hostile ones are what zipfile refuses to write and
because it knows no zstd (method 93), for which the zstd program is called.
"""

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

STORED, DEFLATE, ZSTD = 0, 8, 93


def zstd(data, frames=1):
    """Compressed in several frames, one after the other, as Inspect writes long entries."""
    step = max(1, -(-len(data) // frames))
    pieces = [data[i : i + step] for i in range(0, len(data), step)] or [b""]
    return b"".join(
        subprocess.run(["zstd", "-q", "-c", "-"], input=piece, stdout=subprocess.PIPE, check=True).stdout
        for piece in pieces
    )


class Entry:
    def __init__(self, name, data, method=DEFLATE, crc=None, size=None, flags=0, frames=1, packed=None):
        self.name = name.encode()
        self.data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.method = method
        self.crc = zlib.crc32(self.data) if crc is None else crc
        self.size = len(self.data) if size is None else size
        self.flags = flags
        if packed is not None:
            self.packed = packed
        elif method == DEFLATE:
            compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
            self.packed = compressor.compress(self.data) + compressor.flush()
        elif method == ZSTD:
            self.packed = zstd(self.data, frames)
        else:
            self.packed = self.data

    def common(self):
        moment = (0, 0x5CA1)  # 2026-05-01
        return struct.pack(
            "<HHHHHIIIHH", 20, self.flags, self.method, *moment, self.crc, len(self.packed), self.size, len(self.name), 0
        )


def archive(entries):
    out, directory = b"", b""
    for entry in entries:
        offset = len(out)
        out += b"PK\x03\x04" + entry.common() + entry.name + entry.packed
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + entry.common()
        directory += struct.pack("<HHHII", 0, 0, 0, 0, offset) + entry.name
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(out), 0)
    return out + directory + b"PK\x05\x06" + end


def tool(name, **properties):
    return {
        "name": name,
        "description": f"Does {name}.",
        "parameters": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        },
    }


TOOLS = [tool("find_booking", code="string"), tool("refund", code="string", amount="number")]
LONG = "A booking confirmation, long enough to be kept once and referred to. " * 3


def call(number, function, arguments, parse_error=None):
    return {"id": f"call_{number}", "function": function, "arguments": arguments, "parse_error": parse_error, "type": "function"}


def answer(number, function, content, kind=None, message=None):
    error = {"type": kind, "message": message} if kind else None
    return {"role": "tool", "content": content, "tool_call_id": f"call_{number}", "function": function, "error": error}


def model_event(message_id, prompt, completion, seconds, role=None, calls=2):
    return {
        "event": "model",
        "timestamp": "2026-05-01T10:00:00+00:00",
        "model": "vllm/acme-7b",
        "role": role,
        "input": [],
        "tools": TOOLS,
        "tool_choice": "auto",
        "config": {},
        "output": {
            "model": "acme-7b",
            "choices": [{"message": {"id": message_id, "role": "assistant", "content": "x", "tool_calls": [{}] * calls}, "stop_reason": "tool_calls"}],
            "usage": {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion, "input_tokens_cache_read": 5},
        },
        "call": {"request": {}, "response": {"choices": [{"message": {"role": "assistant", "content": "raw <tool_call>", "tool_calls": [{}, {}]}}]}},
        "working_time": seconds,
    }


def sample_first():
    """Task 1, epoch 1: solved, with one failure of several kinds on the way."""
    return {
        "id": 1,
        "epoch": 1,
        "input": "Refund booking AB1.",
        "target": "refunded",
        "messages": [
            {"id": "m0", "role": "system", "content": "You are a clerk. Refund only what the rules allow."},
            {"id": "m1", "role": "user", "content": [{"type": "text", "text": "Refund booking AB1."}, {"type": "image", "image": "attachment://aaaa"}, {"type": "text", "text": "Please."}]},
            {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call(1, "find_booking", {"code": "AB1"}), call(2, "lookup", {"q": "AB1", "deep": {"n": 1.0, "list": [1, None, True]}})], "model": "acme-7b"},
            answer(1, "find_booking", "attachment://bbbb"),
            answer(2, "lookup", "", "parsing", "Tool lookup not found"),
            {"id": "m3", "role": "assistant", "content": "attachment://cccc", "tool_calls": [call(3, "refund", {}, "Error parsing the following tool call arguments:\n\n{\"code\": AB1}")]},
            answer(3, "refund", "", "parsing", "Error parsing the following tool call arguments:\n\n{\"code\": AB1}"),
            {"id": "m4", "role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Again."}], "tool_calls": [call(4, "refund", {"code": "attachment://bbbb", "amount": 12.5})]},
            answer(4, "refund", "partial output", "limit", "The tool exceeded its output limit of 10 MiB."),
            {"id": "m5", "role": "assistant", "content": "Done. \ud83d\ude00 \u00e9"},
        ],
        "output": {"model": "acme-7b", "choices": [], "stop_reason": "stop"},
        "scores": {"match": {"value": "C", "answer": "refunded", "explanation": None}, "quality": {"value": {"tone": 0.5, "facts": 1}}},
        "metadata": {"huge": 123456789012345678901234567890},
        "store": {},
        "events": [{"event": "sample_init"}, model_event("m2", 100, 20, 1.5), model_event("m5", 1, 2, 0.5), model_event("m9", 7, 7, 9.0, "grader")],
        "model_usage": {"vllm/acme-7b": {"input_tokens": 200, "output_tokens": 40, "total_tokens": 240, "total_cost": 0.25}},
        "total_time": 12.5,
        "uuid": "sample-uuid-1",
        "attachments": {"bbbb": LONG, "cccc": "I will refund it."},
    }


def sample_short(ident, epoch, scores, **more):
    sample = {
        "id": ident,
        "epoch": epoch,
        "input": "Hello.",
        "target": "",
        "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Bye."}],
        "scores": scores,
    }
    sample.update(more)
    return sample


def both(match, tone=1, facts=1):
    return {"match": {"value": match}, "quality": {"value": {"tone": tone, "facts": facts}}}


def samples():
    error = {"message": "Connection reset", "traceback": "...", "traceback_ansi": "..."}
    return [
        sample_first(),
        sample_short(1, 2, both("I")),
        sample_short("two", 1, both("P"), limit={"type": "message", "limit": 30.0}),
        sample_short("two", 2, None, error=error),
        sample_short("three", 1, both(float("nan")), limit={"type": "token", "limit": 1000.0}),
        sample_short("three", 2, both("N"), error=error),
        sample_short("four/a b", 1, both("C"), invalidation={"author": "somebody", "timestamp": "2026-05-02T00:00:00+00:00"}),
        sample_short("four/a b", 2, both(0.75), limit={"type": "operator", "limit": 1.0}),
    ]


def header(status="success", task="inspect_evals/tau2_airline"):
    out = {
        "version": 2,
        "status": status,
        "eval": {
            "eval_id": "e1",
            "run_id": "r1",
            "created": "2026-05-01T10:00:00+00:00",
            "task": task,
            "task_id": "t1",
            "dataset": {"name": "tasks", "samples": 4, "sample_ids": [1, "two", "three", "four/a b"]},
            "model": "vllm/acme-7b",
            "model_generate_config": {"temperature": 0.7, "max_tokens": None, "seed": 5},
            "model_roles": {"user": {"model": "openai/gpt-4.1"}},
            "config": {"epochs": 2, "message_limit": 30},
            "revision": {"type": "git", "origin": "git@example.org:x.git", "commit": "0123abc"},
            "scorers": [{"name": "inspect_ai/match"}, {"name": "quality"}],
        },
        "plan": {"name": "plan", "steps": [{"solver": "use_tools"}, {"solver": "react"}], "config": {"temperature": 0.0, "top_p": 0.9}},
        "results": {"total_samples": 8, "completed_samples": 7, "scores": [{"name": "match", "scorer": "match"}, {"name": "tone", "scorer": "quality"}]},
        "stats": {},
    }
    return out


def sample_name(sample):
    return f"samples/{sample['id']}_epoch_{sample['epoch']}.json"


def log(method, **options):
    start = {key: header()[key] for key in ("version", "eval", "plan")}
    entries = [Entry("_journal/start.json", start, method)]
    entries += [Entry(sample_name(sample), sample, method, **options) for sample in samples()]
    entries.append(Entry("_journal/summaries/1.json", [], method))
    entries.append(Entry("summaries.json", [{"id": 1, "epoch": 1}], STORED))
    entries.append(Entry("header.json", header(), STORED))
    return entries


def chunked():
    """The first sample in pieces: two parts of messages, numbered attachments."""
    sample = sample_first()
    text = json.dumps(sample)
    for number, key in enumerate(sample["attachments"]):
        text = text.replace(f"attachment://{key}", f"attachment://{number}")
    sample = json.loads(text)
    messages = sample.pop("messages")
    contents = list(sample.pop("attachments").values())
    events = sample.pop("events")
    sample.pop("metadata")
    shuffled = messages[5:] + messages[:5]
    count = len(messages)
    sample["message_refs"] = [[count - 5, count], [0, count - 5]]
    folder = "samples/1_epoch_1"
    parts = [
        Entry(f"{folder}/sample.json", sample),
        Entry(f"{folder}/metadata.json", {"k": "v"}),
        Entry(f"{folder}/skeleton.json", {"messages": []}),
        Entry(f"{folder}/messages/4.json", shuffled[4:]),
        Entry(f"{folder}/messages/0.json", shuffled[:4]),
        Entry(f"{folder}/events/0.json", events),
        Entry(f"{folder}/events/stats.json", {}),
        Entry(f"{folder}/events/uuids.json", []),
        Entry(f"{folder}/calls/0.json", []),
        Entry(f"{folder}/attachments/0.json", contents),
    ]
    return parts, sample, messages


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, data):
        (folder / name).write_bytes(data)

    head = Entry("header.json", header())
    first = sample_first()
    small = Entry("samples/ok_epoch_1.json", sample_short("ok", 1, both("C")))
    write("inspect.eval", archive(log(DEFLATE)))
    write("inspect_zstd.eval", archive(log(ZSTD, frames=3)))
    write("inspect_stored.eval", archive(log(STORED)))
    write("inspect.json", json.dumps({**header(), "samples": samples(), "reductions": []}, indent=2).encode())

    parts, shell, messages = chunked()
    write("inspect_chunked.eval", archive([head, *parts, small]))
    missing = [part for part in parts if not part.name.endswith(b"messages/0.json")]
    write("inspect_chunked_gap.eval", archive([head, *missing, small]))
    shell["message_refs"] = [[0, len(messages) + 1]]
    write("inspect_chunked_beyond.eval", archive([head, Entry("samples/1_epoch_1/sample.json", shell), *parts[1:], small]))

    start = {key: header()[key] for key in ("version", "eval", "plan")}
    write("inspect_crashed.eval", archive([Entry("_journal/start.json", start), Entry(sample_name(first), first)]))

    later = sample_short("ok", 1, both("I"))
    write("inspect_twice.eval", archive([head, small, Entry("samples/ok_epoch_1.json", later)]))

    zeros = b"[" + b" " * (1 << 22) + b"]"
    write("hostile_bomb.eval", archive([head, small, Entry("samples/b_epoch_1.json", zeros)]))
    write("hostile_lying_bomb.eval", archive([head, small, Entry("samples/b_epoch_1.json", zeros, size=100)]))
    write("hostile_lying_bomb_zstd.eval", archive([head, small, Entry("samples/b_epoch_1.json", zeros, ZSTD, size=100)]))
    write("hostile_crc.eval", archive([head, small, Entry(sample_name(first), first, crc=1)]))
    write("hostile_size.eval", archive([head, small, Entry(sample_name(first), first, size=1 << 20)]))
    write("hostile_encrypted.eval", archive([head, small, Entry(sample_name(first), first, flags=1)]))
    write("hostile_method.eval", archive([head, small, Entry(sample_name(first), first, 12, packed=b"BZh9")]))
    garbage = b"\x28\xb5\x2f\xfd" + b"\xff" * 60
    write("hostile_zstd.eval", archive([head, small, Entry(sample_name(first), first, ZSTD, packed=garbage)]))
    half = zstd(json.dumps(first).encode())
    write("hostile_zstd_cut.eval", archive([head, small, Entry(sample_name(first), first, ZSTD, packed=half[: len(half) // 2])]))
    write("hostile_paths.eval", archive([head, small, Entry("../../etc/passwd", b"x"), Entry("samples/../../up_epoch_1.json", sample_short("up", 1, both("C"))), Entry("/samples/x_epoch_1.json", b"{}")]))
    whole = archive(log(DEFLATE))
    write("hostile_cut.eval", whole[: len(whole) * 2 // 3])


if __name__ == "__main__":
    main()

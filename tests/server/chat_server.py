#!/usr/bin/env python3
"""An OpenAI-compatible server that misbehaves on request, in a process of its own.

    chat_server.py [--port N] [--tasks tasks.json] [--rates rates.json] [--end-with-stdin]
    chat_server.py --tasks tasks.json --mark OUT      write the tasks with "case <id>" in every scenario

Prints "listening on <port>" once it does; --port 0 (the default) takes a free one. The `model` of a request says what
happens: "judge", "fault:<kind>" or "fault:<kind>:<n>[:<tag>]" (n times, then a good reply; counted per whole model name), "user",
or a name in the rates file, {"agent:q4": {"hallucination": 0.04, "recovery": 0.9, "repair": 0.8, "seed": 1,
"names": {"lookup_record": 3}}}. GET /requests tells how many requests each model name has had.
"""
import argparse
import email.utils
import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import planted_parties as planted

counts = {}
counts_lock = threading.Lock()
parties = {}

OVERFLOWS = {
    "vllm": (400, {"object": "error", "type": "BadRequestError", "code": 400,
                   "message": "This model's maximum context length is 4096 tokens. However, your request has 5000."}),
    "vllm_prompt": (400, {"error": {"message": "The decoder prompt (length 5000) is longer than the maximum model "
                                               "length of 4096.", "code": 400}}),
    "llamacpp": (400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 4096,
                                 "message": "the request exceeds the available context size, try increasing it"}}),
    "llamacpp_midway": (500, {"error": {"code": 500, "message": "Context size has been exceeded."}}),
    "openai": (400, {"error": {"code": "context_length_exceeded", "message": "Input tokens exceed the limit."}}),
    "sglang": (400, {"object": "error", "message": "The input (5000 tokens) is longer than the model's context length "
                                                   "(4096 tokens)."}),
    "sglang_cache": (400, {"object": "error", "message": "Input length (5000 tokens) exceeds the maximum allowed length "
                                                         "(4000 tokens)."}),
    "vllm_input": (400, {"error": {"message": "You passed 5000 input tokens and requested 0 output tokens. However, the "
                                              "model's context length is only 4096 tokens, resulting in a maximum input "
                                              "length of 4096 tokens.", "code": 400}}),
    "ollama": (400, {"error": "the input length exceeds the context length"}),
    "ollama_no_shift": (400, {"error": {"message": "the prompt is longer than the context length currently available to "
                                                   "the model"}}),
    "tgi": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 "
                           "`inputs` tokens and 500 `max_new_tokens`", "error_type": "validation"}),
    "anthropic": (400, {"type": "error", "error": {"type": "invalid_request_error",
                                                   "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
    "anthropic_sum": (400, {"error": {"message": "input length and `max_tokens` exceed context limit: 1 + 2 > 2"}}),
    "no_code": (400, {"error": {"message": "Your input exceeds the context window of this model."}}),
    "too_large": (413, {"error": {"message": "This model's maximum context length is 4096 tokens."}}),
}


def call(name, arguments, call_id=None):
    out = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return out if call_id is None else {"id": call_id, **out}


def message(content=None, calls=None, **more):
    out = {"role": "assistant", "content": content, **more}
    return {**out, "tool_calls": calls} if calls else out


def completion(answer, finish=None, logprobs=None, more_choices=()):
    reason = finish or ("tool_calls" if answer.get("tool_calls") else "stop")
    choices = [{"index": 0, "message": answer, "finish_reason": reason, "logprobs": logprobs}]
    return {"id": "cmpl-1", "object": "chat.completion", "created": 1, "choices": choices + list(more_choices),
            "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}}


def error_500(text):
    return 500, {"error": {"code": 500, "message": text, "type": "server_error"}}


def many_alternatives():
    tokens = [{"token": f"token {i}", "logprob": -0.1 - i, "bytes": list(b"token 17")} for i in range(20)]
    return {**tokens[0], "top_logprobs": tokens}


UNREAD = {  # what the model wrote is no message of the form that the server expects
    "llamacpp": error_500("The model produced output that does not match the expected peg-native format"),
    "llamacpp_quoting": error_500("Failed to parse input at pos 12: <tool_call>\n{\"name\": \"a\", \"arguments\": {\"n\":"),
    "llamacpp_misleading": error_500("Failed to parse input at pos 0: maximum context length logprobs"),
    "ollama": error_500("error parsing tool call: raw='{\"n\": 1}]', err=invalid character ']' after top-level value"),
    "ollama_object": error_500("error parsing tool call: raw='{\"n\": 1}', err=no such tool"),
}

SHAPES = {  # replies with status 200 that a reader must survive
    "no_id": completion(message(calls=[call("a", "{}"), call("b", "{}", "")])),
    "duplicate_ids": completion(message(calls=[call("a", "{}", "x"), call("b", "{}", "x"), call("c", "{}", "x")])),
    "object_arguments": completion(message(calls=[call("a", {"n": 1, "t": "é"}, "x")])),
    "null_arguments": completion(message(calls=[call("a", None, "x")])),
    "empty": completion(message("")),
    "null": completion(message(None)),
    "several": completion(message("first"), more_choices=[{"index": 1, "message": message("second")}]),
    "unicode": completion(message(calls=[call("получить_заказ_🛒", "{\"имя\": \"Ж\"}", "x")])),
    "parts": completion(message([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}])),
    "function_call": completion(message(None, function_call={"name": "a", "arguments": "{}"}), finish="function_call"),
    "reasoning": completion(message("yes", reasoning_content="because")),
    "odd_finish": completion(message("ok"), finish="tired"),
    "refusal": completion(message(None, refusal="I will not.")),
    "content_number": completion(message(7)),
    "calls_object": completion({**message(None), "tool_calls": call("a", "{}", "x")}),
    "calls_text": completion({**message("ok"), "tool_calls": "none"}),
    "no_name": completion(message(calls=[{"id": "x", "function": {"arguments": "{}"}}])),
    "name_number": completion(message(calls=[{"id": "x", "function": {"name": 7, "arguments": "{}"}}])),
    "bad_arguments": completion(message(calls=[call("a", "{\"n\": ", "x")])),
    "logprobs_hole": completion(message("ok"), logprobs={"content": [{"token": "o", "logprob": -0.1}, {"token": "k"}]}),
    "thinking_parts": completion(message([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}])),
    "null_message": {"choices": [{"message": None}]},
    "missing_choices": {"id": "cmpl-1", "object": "chat.completion"},
    "no_choice": {"choices": []},
    "error_200": {"error": {"message": "upstream is away", "code": 502}},
    "big": completion(message("x" * 10_000_000)),
    "huge_text": completion(message("x" * 17_000_000)),
    "escapes": completion(message('"' * 1000)),
    "many_logprobs": completion(message("ok"), logprobs={"content": [many_alternatives()] * 11_000}),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        with counts_lock:
            self.send(200, dict(counts))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(body)
            model = request["model"]
        except (ValueError, KeyError, TypeError):
            return self.send(400, {"error": {"message": "the body is not a chat request"}})
        if self.path.split("?")[0] != "/v1/chat/completions":
            return self.send(404, {"detail": "Not Found"})
        with counts_lock:
            counts[model] = turn = counts.get(model, 0) + 1
        try:
            if model in parties:
                return self.play(parties[model], request)
            if model.startswith("fault:"):
                return self.fault(model.split(":"), turn, request)
        except planted.CannotTell as problem:
            return self.send(400, {"error": {"message": str(problem)}})
        return self.send(404, {"error": {"message": f"The model `{model}` does not exist."}})

    def play(self, party, request):
        answer = party.reply(request)
        logprobs = planted.logprobs_of(answer, 0.9) if request.get("logprobs") else None
        self.send(200, completion(answer, logprobs=logprobs))

    def send(self, status, body, content_type="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def fault(self, words, turn, request):
        kind = words[1]
        if len(words) > 2 and turn > int(words[2]):
            kind = "ok"
        if kind in SHAPES:
            return self.send(200, SHAPES[kind])
        if kind.startswith("overflow_"):
            return self.send(*OVERFLOWS[kind.removeprefix("overflow_")])
        if kind.startswith("unread_"):
            return self.send(*UNREAD[kind.removeprefix("unread_")])
        if kind.isdigit():
            return self.send(int(kind), {"error": {"message": f"status {kind}\nas you wish"}})
        return getattr(self, "fault_" + kind)(request)

    def fault_ok(self, request):
        offered = [tool["function"]["name"] for tool in request.get("tools") or []]
        answer = message(calls=[call(offered[0], "{}", "x")]) if offered else message("ok")
        self.send(200, completion(answer, logprobs=planted.logprobs_of(answer, 0.9) if request.get("logprobs") else None))

    def fault_echo_request(self, request):
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() != "authorization"}
        self.send(200, completion(message(json.dumps({"headers": headers, "body": request}))))

    def fault_busy(self, _):
        self.send(429, {"error": {"message": "slow down"}}, headers=[("Retry-After", "1")])

    def fault_busy_date(self, _):
        date = email.utils.formatdate(time.time() + 2, usegmt=True)
        self.send(429, {"error": {"message": "slow down"}}, headers=[("Retry-After", date)])

    def fault_cut(self, _):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"role": "assi')
        self.hang_up()

    def fault_close(self, _):
        self.hang_up()

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def fault_hang(self, _):
        self.close_connection = True
        time.sleep(20)

    def fault_drip(self, _):
        data = json.dumps(completion(message("x" * 2000))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for byte in data:
            self.wfile.write(bytes([byte]))
            time.sleep(0.02)

    def fault_invalid_json(self, _):
        self.send(200, b'{"choices": [{"message": {"role": "assistant", "content": "ok"}')

    def fault_deep(self, _):
        self.send(200, b'{"choices": ' + b"[" * 100_000)

    def fault_html(self, _):
        page = b"<html><head><style>p{}</style></head><body><h1>502 Bad Gateway</h1></body></html>"
        self.send(200, page, content_type="text/html")

    def fault_content_type(self, _):
        self.send(200, completion(message("ok")), content_type="text/plain")

    def fault_bytes(self, _):
        data = json.dumps(completion(message("caf?"))).encode().replace(b"caf?", b"caf\xe9")
        self.send(200, data)

    def fault_surrogate(self, _):
        data = json.dumps(completion(message("a?b"))).encode().replace(b"a?b", b"a\\ud83db")
        self.send(200, data)

    def fault_no_logprobs(self, request):
        if request.get("logprobs"):
            return self.send(400, {"error": {"message": "logprobs are not supported by this model"}})
        return self.fault_ok(request)

    def fault_echo_key(self, _):
        key = self.headers.get("Authorization", "")
        self.send(401, {"error": {"message": f"bad key {key}: {'-' * 240} {key}"}})

    def fault_leak_key(self, _):
        self.send(200, completion(message("your key is " + self.headers.get("Authorization", ""))))

    def fault_redirect(self, _):
        self.send(308, b"", headers=[("Location", "https://elsewhere.example/v1/chat/completions")])

    def probe_answer(self, request, bound):
        offered = [tool["function"]["name"] for tool in request.get("tools") or []]
        name = offered[0] if bound else "sort_lanterns"
        self.send(200, completion(message(calls=[call(name, "{}", "x")])))

    def fault_binds_strict(self, request):
        self.probe_answer(request, any(tool["function"].get("strict") for tool in request["tools"]))

    def fault_binds_tags(self, request):  # takes strict tools and ignores them
        self.probe_answer(request, (request.get("response_format") or {}).get("type") == "structural_tag")

    def fault_binds_nothing(self, request):  # as llama.cpp where it does not know the template
        if request.get("response_format"):
            return self.send(400, {"error": {"message": "response_format type must be one of \"text\" or \"json_object\""}})
        self.probe_answer(request, False)

    def fault_ignores_strict(self, request):
        self.send(200, completion(message(calls=[call("sort_lanterns", "{}", "x")])))

    def fault_refuses_strict(self, request):
        self.send(400, {"error": {"message": "strict tools are not supported"}})

    def fault_die(self, request):
        if not self.server.alive:
            os._exit(0)
        self.fault_ok(request)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass  # the client has left, which is what many faults are about


def untrusted(listening):
    """TLS with a fresh certificate of another name."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=elsewhere",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    return context.wrap_socket(listening, server_side=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--tasks")
    options.add_argument("--rates")
    options.add_argument("--mark")
    options.add_argument("--alive", action="store_true", help="fault:die answers instead")
    options.add_argument("--tls", action="store_true", help="speak TLS with a certificate that nobody trusts")
    options.add_argument("--ipv6", action="store_true", help="listen at ::1")
    options.add_argument("--end-with-stdin", action="store_true", help="end when standard input does")
    given = options.parse_args()
    if given.tasks:
        with open(given.tasks, encoding="utf-8") as file:
            tasks = json.load(file)
        if given.mark:
            with open(given.mark, "w", encoding="utf-8") as file:
                json.dump(planted.mark(tasks), file)
            return
        cases = planted.Cases(tasks)
        parties["user"] = planted.User(cases)
        parties["judge"] = planted.Judge()
        if given.rates:
            with open(given.rates, encoding="utf-8") as file:
                for name, rates in json.load(file).items():
                    parties[name] = planted.Agent(cases, rates)
    Server.address_family = socket.AF_INET6 if given.ipv6 else socket.AF_INET
    server = Server(("::1" if given.ipv6 else "127.0.0.1", given.port), Handler)
    if given.tls:
        server.socket = untrusted(server.socket)
    server.alive = given.alive
    print(f"listening on {server.server_address[1]}", flush=True)
    if given.end_with_stdin:  # a parent that holds the other end takes the server with it
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()

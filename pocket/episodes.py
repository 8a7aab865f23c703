"""Expert episodes from pocket-episodes, as tokens with a weight each.

An episode is rendered by the very chat template that goes into the model file. What the expert meant to write has weight 1, the
rest a small one, so that the model learns the language of the worlds as well; mistakes have weight 1 only where they are
to be learned, and harmless detours never.
"""
import json
import random
import re
import subprocess
from pathlib import Path

import jinja2

CONTEXT_WEIGHT = 0.1
HERE = Path(__file__).parent
environment = jinja2.Environment()
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
TEMPLATE = environment.from_string((HERE / "template.jinja").read_text())


def stream(generator, world, first, count, mistake, wander, recover=0.95):
    """`count` episodes of the training structures from number `first` on; of both worlds, a quarter of them telecom, which is
    learned sooner, where world is both."""
    if world == "both":
        telecom = count // 4
        found = stream(generator, "telecom", first, telecom, mistake, wander, recover)
        return found + stream(generator, "retail", first, count - telecom, mistake, wander, recover)
    command = [generator, "--world", world, "--first", str(first), "--count", str(count)]
    command += ["--mistake", str(mistake), "--wander", str(wander), "--recover", str(recover)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def chat_form(message):
    """A message as chat templates get it."""
    if not message.get("tool_calls"):
        return message
    calls = [{"function": call} for call in message["tool_calls"]]
    return {**message, "tool_calls": calls}


def render(messages, tools):
    return TEMPLATE.render(messages=[chat_form(m) for m in messages], tools=[t for t in tools])


def segments(episode, learn_mistakes):
    """(text, weight) of the system prompt and of every message, in order."""
    system, rest = episode["messages"][0], episode["messages"][1:]
    out = [(render([system], episode["tools"]), CONTEXT_WEIGHT)]
    mark = render([], [])
    for message in rest:
        text = render([message], [])[len(mark) :]
        if message["role"] != "assistant":
            out.append((text, CONTEXT_WEIGHT))
            continue
        weight = {"right": 1.0, "mistake": float(learn_mistakes), "wander": 0.0}[message["kind"]]
        out += [("<a>", CONTEXT_WEIGHT), (text[len("<a>") :], weight)]
    return out


def noun(name):
    return re.match(r"[a-z]+", name).group()


def drill(episode, seed, length=12):
    """Look-ups: asked for a noun, the side and the name that the prompt lists for it."""
    pick = random.Random(seed)
    tools = [t["function"]["name"] for t in episode["tools"]]
    system = episode["messages"][0]["content"]
    asked = re.findall(r" ask ([a-z]+[A-Z][a-z]+)", system)
    queries = [(name, "call") for name in tools] + [(name, "ask") for name in asked]
    out = [(render([episode["messages"][0]], episode["tools"]), CONTEXT_WEIGHT)]
    pick.shuffle(queries)
    while len(queries) < length:
        queries += queries
    for name, side in queries[:length]:
        out += [(f"<t> need {noun(name)}", CONTEXT_WEIGHT), ("<a>", CONTEXT_WEIGHT)]
        written = f" {noun(name)}<call> {name}<args>" if side == "call" else f" {noun(name)} ask {name}<e>"
        out.append((written, 1.0))
    return out


def encode(tokenizer, parts):
    ids, weights = [], []
    for text, weight in parts:
        piece = tokenizer.encode(text)
        ids += piece
        weights += [weight] * len(piece)
    return ids, weights

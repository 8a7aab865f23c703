"""Trains the pocket agent from scratch: first on clean experts, then on experts that err at a known rate.

    python3 pocket/train.py --generator build/release/pocket-episodes --out OUT [--experts 4 --feed-forward 256] [--seed 5]

The same seed gives the same weights on the same processor and libraries, for work is counted in tokens, not in minutes. An interrupted
training goes on where its last checkpoint was (every 100 steps). One thread: two are hardly faster at this size.
"""
import argparse
import math
import os
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F

import episodes
import model as decoder
import tokenizer

# Episodes are numbered; these blocks of numbers are apart.
VOCABULARY_FIRST, HELD_OUT_FIRST, TRAINING_FIRST = 10**6, 2 * 10**6, 10**7
POOL = 256  # episodes sorted by length together


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", required=True, help="the program pocket-episodes")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--world", default="both", choices=["telecom", "retail", "both"])
    parser.add_argument("--tokens", type=float, default=3.0e6, help="of the first phase")
    parser.add_argument("--mistake-tokens", type=float, default=1.0e6, help="of the second phase")
    parser.add_argument("--mistake", type=float, default=0.06, help="the expert's rate in the second phase")
    parser.add_argument("--recover", type=float, default=0.6, help="how often it is right after a mistake, there")
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate of the first phase")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--drill", type=float, default=0.25, help="share of look-up drills at first")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--feed-forward", type=int, default=512)
    parser.add_argument("--experts", type=int, default=0)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


class Source:
    """Batches of one phase: batch i is always the same."""

    def __init__(self, options, tokens, phase, mistake, recover, learn_mistakes, drill):
        self.options, self.tokens, self.phase = options, tokens, phase
        self.mistake, self.recover, self.learn_mistakes, self.drill = mistake, recover, learn_mistakes, drill
        self.pool_number, self.batches = -1, []

    def drill_share(self, progress):
        return self.drill * (1 if progress < 0.15 else max(0.1, 1 - (progress - 0.15) / 0.4))

    def fill(self, number, progress):
        options = self.options
        first = TRAINING_FIRST * (1 + 2 * options.seed + self.phase) + number * POOL
        pick = random.Random(first)
        found = episodes.stream(options.generator, options.world, first, POOL, self.mistake, 0.03, self.recover)
        pool = []
        for i, episode in enumerate(found):
            if pick.random() < self.drill_share(progress):
                parts = episodes.drill(episode, first + i)
            else:
                parts = episodes.segments(episode, self.learn_mistakes)
            pool.append(episodes.encode(self.tokens, parts))
        pool.sort(key=lambda e: len(e[0]))
        self.batches = [pool[i : i + options.batch] for i in range(0, POOL, options.batch)]
        pick.shuffle(self.batches)
        self.pool_number = number

    def batch(self, index, progress):
        per_pool = POOL // self.options.batch
        if index // per_pool != self.pool_number:
            self.fill(index // per_pool, progress)
        return self.batches[index % per_pool]


def padded(batch):
    length = max(len(ids) for ids, _ in batch)
    ids, weights = torch.zeros(len(batch), length, dtype=torch.long), torch.zeros(len(batch), length)
    for i, (tokens, weight) in enumerate(batch):
        ids[i, : len(tokens)] = torch.tensor(tokens)
        weights[i, : len(tokens)] = torch.tensor(weight)
    return ids, weights


@torch.no_grad()
def held_out(network, tokens, sample):
    """Loss and accuracy on what experts meant to write, and accuracy on the words of names."""
    network.eval()
    capital = torch.tensor([t[:1].isupper() and len(t) > 2 for t in tokens.text])
    loss = right = count = named = names = 0
    for i in range(0, len(sample), 16):
        ids, weights = padded(sample[i : i + 16])
        logits, target, meant = network(ids)[:, :-1], ids[:, 1:], weights[:, 1:] == 1
        loss += (F.cross_entropy(logits.transpose(1, 2), target, reduction="none") * meant).sum().item()
        hit = logits.argmax(-1) == target
        verb = meant & capital[target]
        right, count = right + (hit & meant).sum().item(), count + meant.sum().item()
        named, names = named + (hit & verb).sum().item(), names + verb.sum().item()
    network.train()
    return f"held out: loss {loss / count:.4f} accuracy {right / count:.4f} verbs {named / names:.4f}"


def optimizer(network, rate):
    matrices = [p for p in network.parameters() if p.dim() >= 2]
    vectors = [p for p in network.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), eps=1e-9)


def save(file, **state):
    torch.save(state, f"{file}.part")
    os.replace(f"{file}.part", file)


def run_phase(name, network, tokens, source, budget, rate, options, sample):
    """Trains until `budget` tokens were seen; cosine schedule with a short warm-up."""
    file = options.out / f"{name}.pt"
    steps, seen, start = optimizer(network, rate), 0, 0
    if file.exists():
        state = torch.load(file)
        network.load_state_dict(state["weights"])
        steps.load_state_dict(state["optimizer"])
        seen, start = state["seen"], state["step"]
    step, began = start, time.time()
    began_seen = seen
    while seen < budget:
        progress = seen / budget
        for group in steps.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 60) * (0.04 + 0.48 * (1 + math.cos(math.pi * progress)))
        ids, weights = padded(source.batch(step, progress))
        weight = weights[:, 1:].reshape(-1)
        rows = (weight > 0).nonzero().squeeze(1)
        logits = network(ids[:, :-1], rows)
        loss = F.cross_entropy(logits, ids[:, 1:].reshape(-1)[rows], reduction="none")
        total = (loss * weight[rows]).sum() / weight.sum() + 0.01 * network.imbalance()
        steps.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        steps.step()
        seen, step = seen + int((ids > 0).sum()), step + 1
        if step % 100 == 0 or seen >= budget:
            speed = (seen - began_seen) / (time.time() - began)
            print(f"{name}: step {step}, {seen / 1e6:.2f} of {budget / 1e6:.2f} M tokens, {speed:.0f} a second, "
                  f"loss {total.item():.4f}, {held_out(network, tokens, sample)}", flush=True)
            save(file, weights=network.state_dict(), optimizer=steps.state_dict(), seen=seen, step=step)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    vocabulary = Path(__file__).parent / "vocabulary.json"
    tokens = tokenizer.Tokenizer(vocabulary)
    shape = decoder.Shape(len(tokens.vocab), width=options.width, layers=options.layers,
                          feed_forward=options.feed_forward, experts=options.experts)
    network = decoder.Decoder(shape)
    print(f"{sum(p.numel() for p in network.parameters()):,} parameters, {shape.vocabulary} tokens", flush=True)
    found = episodes.stream(options.generator, options.world, HELD_OUT_FIRST, 64, 0.0, 0.0)
    sample = [episodes.encode(tokens, episodes.segments(episode, False)) for episode in found]
    clean = Source(options, tokens, 0, 0.10, 0.95, False, options.drill)
    run_phase("clean", network, tokens, clean, options.tokens, options.rate, options, sample)
    erring = Source(options, tokens, 1, options.mistake, options.recover, True, 0.1 * options.drill)
    run_phase("erring", network, tokens, erring, options.mistake_tokens, options.rate / 2, options, sample)
    save(options.out / "final.pt", weights=network.state_dict(), shape=shape.__dict__, seed=options.seed,
         mistake=options.mistake, recover=options.recover)


if __name__ == "__main__":
    main()

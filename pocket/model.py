"""A Llama-architecture decoder, as llama.cpp's "llama" computes it: RMS norms, rotary embeddings on interleaved pairs, gated
feed-forward layers, the embedding shared with the head, biases on queries and keys. With `experts` > 0 the feed-forward layer is
a mixture: softmax over experts, the best two, their weights normalised."""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

PEAK_SCORE = 14.0  # of the wired previous-token heads, before training


@dataclass
class Shape:
    vocabulary: int
    width: int = 256
    layers: int = 3
    heads: int = 4
    feed_forward: int = 512
    experts: int = 0
    experts_used: int = 2
    rope_base: float = 100000.0
    epsilon: float = 1e-5

    @property
    def head_width(self):
        return self.width // self.heads

    def frequencies(self):
        return self.rope_base ** (-torch.arange(0, self.head_width, 2).float() / self.head_width)


class Norm(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.width))
        self.epsilon = shape.epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotate(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        d = shape.width
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
        self.v, self.o = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, d = x.shape
        heads = self.shape.heads
        split = lambda y: y.view(batch, length, heads, -1).transpose(1, 2)
        flat = lambda y: y.reshape(batch * heads, length, -1)
        q, k, v = rotate(split(self.q(x)), cos, sin), rotate(split(self.k(x)), cos, sin), split(self.v(x))
        mask = mask.expand(batch * heads, length, length)
        scale = 1 / math.sqrt(self.shape.head_width)
        attention = torch.baddbmm(mask, flat(q), flat(k).transpose(1, 2), alpha=scale).softmax(-1)
        mixed = torch.bmm(attention, flat(v)).view(batch, heads, length, -1)
        return self.o(mixed.transpose(1, 2).reshape(batch, length, d))


class FeedForward(nn.Module):
    def __init__(self, shape, hidden):
        super().__init__()
        self.gate = nn.Linear(shape.width, hidden, bias=False)
        self.up = nn.Linear(shape.width, hidden, bias=False)
        self.down = nn.Linear(hidden, shape.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Mixture(nn.Module):
    """Every expert computes every token, which is quicker than routing at this size; the unused ones get weight 0."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.router = nn.Linear(shape.width, shape.experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(shape, shape.feed_forward) for _ in range(shape.experts))
        self.imbalance = torch.zeros(())

    def forward(self, x):
        share = self.router(x).softmax(-1)
        best, index = share.topk(self.shape.experts_used, -1)
        weight = torch.zeros_like(share).scatter(-1, index, best / best.sum(-1, keepdim=True))
        used = (weight > 0).float().flatten(0, -2).mean(0)
        self.imbalance = self.shape.experts * (used * share.flatten(0, -2).mean(0)).sum()
        return sum(weight[..., i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.attention_norm, self.feed_norm = Norm(shape), Norm(shape)
        self.attention = Attention(shape)
        self.feed = Mixture(shape) if shape.experts else FeedForward(shape, shape.feed_forward)

    def forward(self, x, cos, sin, mask):
        x = x + self.attention(self.attention_norm(x), cos, sin, mask)
        return x + self.feed(self.feed_norm(x))


class Decoder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = Norm(shape)
        initialize(self)

    def forward(self, ids, rows=None):
        """ids: (batch, position). Logits of every position, or of those rows of the flattened (batch * position)."""
        batch, length = ids.shape
        angle = torch.arange(length).float()[:, None] * self.shape.frequencies()
        cos, sin = angle.cos(), angle.sin()
        mask = torch.full((length, length), -1e9).triu(1)
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        x = self.norm(x)
        if rows is not None:
            x = x.reshape(batch * length, -1)[rows]
        return F.linear(x, self.embedding.weight)

    def imbalance(self):
        return sum(block.feed.imbalance for block in self.blocks) if self.shape.experts else 0.0


@torch.no_grad()
def initialize(model):
    """Small residual writes, and an induction circuit wired by hand that training then shapes: in layer 0 two heads look one token
    back and one looks two back; in layer 1 two heads match the present token against what the former wrote, and copy what followed.
    Without it copying does not form in the tokens we can afford."""
    shape = model.shape
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            residual = ".o." in name or ".down." in name
            nn.init.normal_(weight, 0, 0.8 / math.sqrt(weight.shape[1]) * (0.25 if residual else 1.0))
        if name.endswith("bias"):
            weight.zero_()
    nn.init.normal_(model.embedding.weight, 0, 0.5)
    model.norm.weight.fill_(0.06)
    frequency, width = shape.frequencies(), shape.head_width
    peak = (frequency > 0.05).float()
    peak *= math.sqrt(PEAK_SCORE * math.sqrt(width) / peak.sum())
    slow = (frequency < 0.0067).float().repeat_interleave(2)[:, None]
    first, second = model.blocks[0].attention, model.blocks[1].attention
    for head, back in ((0, 1), (1, 1), (2, 2)):
        rows = slice(head * width, (head + 1) * width)
        first.q.weight[rows] *= 0.2
        first.k.weight[rows] *= 0.2
        first.q.bias[rows][0::2] = peak
        first.k.bias[rows][0::2] = peak * torch.cos(frequency * back)
        first.k.bias[rows][1::2] = peak * torch.sin(frequency * back)
        written = torch.linalg.qr(torch.randn(shape.width, width))[0]
        first.o.weight[:, rows] = 0.8 * written
        if head < 2:
            value = first.v.weight[rows]
            second.q.weight[rows] = 2.0 * slow * value + 0.2 * second.q.weight[rows]
            second.k.weight[rows] = 1.6 * slow * written.t() + 0.2 * second.k.weight[rows]
            second.o.weight[:, rows] = 1.5 * second.v.weight[rows].t()

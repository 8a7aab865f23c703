"""A byte-level BPE in GPT-2's style, merged until every word of the pocket worlds is one token.

Words in camelCase are cut before each capital, so that signalCheck is two tokens, signal and Check, wherever it stands.
"""
import collections
import json
import re

SPECIAL = ["<s>", "<u>", "<a>", "<t>", "<e>", "<call>", "<args>", "</call>"]
# llama.cpp's "gpt-2" pre-tokenizer, for ASCII.
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
CAMEL = re.compile(r"(?:^[^A-Za-z]*[A-Z]?[^A-Z]*)|[A-Z][^A-Z]*")
MARKS = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")


def byte_letters():
    """GPT-2's printable letter for each byte."""
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in letters:
            letters[b] = chr(256 + len(letters) - len(printable))
    return letters


LETTERS = byte_letters()


def words(text):
    return ["".join(LETTERS[b] for b in word.encode()) for word in WORDS.findall(text)]


def train(texts):
    """The vocabulary and merges in which every word of the texts is one token."""
    counts = collections.Counter()
    for text in texts:
        for part in MARKS.split(text):
            if part not in SPECIAL:
                counts.update(piece for word in words(part) for piece in CAMEL.findall(word) if piece)
    pieces = {word: list(word) for word in counts}
    merges = []
    while True:
        pairs = collections.Counter()
        for word, split in pieces.items():
            for pair in zip(split, split[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        first, second = max(pairs.items(), key=lambda item: (item[1], item[0]))[0]
        merges.append((first, second))
        for word, split in pieces.items():
            joined, i = [], 0
            while i < len(split):
                if split[i : i + 2] == [first, second]:
                    joined.append(first + second)
                    i += 2
                else:
                    joined.append(split[i])
                    i += 1
            pieces[word] = joined
    vocabulary = list(dict.fromkeys([LETTERS[b] for b in range(256)] + [a + b for a, b in merges]))
    return {"vocab": vocabulary + SPECIAL, "merges": [f"{a} {b}" for a, b in merges]}


class Tokenizer:
    def __init__(self, file):
        with open(file, encoding="utf-8") as stream:
            found = json.load(stream)
        self.vocab, self.merges = found["vocab"], found["merges"]
        self.id = {token: i for i, token in enumerate(self.vocab)}
        self.rank = {tuple(merge.split(" ")): i for i, merge in enumerate(self.merges)}
        self.known = {}
        byte = {letter: b for b, letter in LETTERS.items()}
        self.text = [t if t in SPECIAL else bytes(byte[c] for c in t).decode("latin1") for t in self.vocab]

    def word(self, word):
        if word not in self.known:
            pieces = list(word)
            while len(pieces) > 1:
                rank, i = min((self.rank.get(pair, 1 << 30), i) for i, pair in enumerate(zip(pieces, pieces[1:])))
                if rank == 1 << 30:
                    break
                pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
            self.known[word] = [self.id[piece] for piece in pieces]
        return self.known[word]

    def encode(self, text):
        ids = []
        for part in MARKS.split(text):
            if part in SPECIAL:
                ids.append(self.id[part])
            else:
                for word in words(part):
                    ids += self.word(word)
        return ids

    def decode(self, ids):
        return "".join(self.text[i] for i in ids)

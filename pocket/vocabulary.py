"""Makes vocabulary.json, the tokenizer of the pocket agent, from episodes of both worlds.

    python3 pocket/vocabulary.py build/release/pocket-episodes
"""
import json
import sys
from pathlib import Path

import episodes
import tokenizer
import train


def main():
    texts = []
    for world in ("telecom", "retail"):
        for episode in episodes.stream(sys.argv[1], world, train.VOCABULARY_FIRST, 3000, 0.1, 0.05):
            texts += [text for text, _ in episodes.segments(episode, True)]
    found = tokenizer.train(texts)
    file = Path(__file__).parent / "vocabulary.json"
    file.write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    tokens = tokenizer.Tokenizer(file)
    for text in texts:
        assert tokens.decode(tokens.encode(text)) == text, text
    lengths = sorted(sum(1 for _ in tokens.encode(text)) for text in texts)
    print(f"{len(tokens.vocab)} tokens, {len(tokens.merges)} merges; texts of {lengths[0]} to {lengths[-1]} tokens")


if __name__ == "__main__":
    main()

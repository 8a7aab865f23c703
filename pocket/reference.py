"""What PyTorch computes of an exported agent, for the test that llama.cpp computes the same.

    python3 pocket/reference.py OUT/final.pt GENERATOR pocket/pocket-dense.reference.json

The matrices are rounded to BF16 as in the file. For some held-out episodes: messages and tools, the text they are
rendered to, its tokens, the likeliest token after each position and every 16th position's logits of eight tokens.
"""
import json
import sys
from pathlib import Path

import torch

import episodes
import model as decoder
import tokenizer
import train


def rounded(weights):
    kept = ("router",)
    return {name: w.to(torch.bfloat16).float() if w.dim() >= 2 and not any(k in name for k in kept) else w
            for name, w in weights.items()}


@torch.no_grad()
def main():
    checkpoint, generator, out = sys.argv[1:4]
    state = torch.load(checkpoint)
    tokens = tokenizer.Tokenizer(Path(__file__).parent / "vocabulary.json")
    network = decoder.Decoder(decoder.Shape(**state["shape"]))
    network.load_state_dict(rounded(state["weights"]))
    network.eval()
    found = []
    for world in ("telecom", "retail"):
        for episode in episodes.stream(generator, world, train.HELD_OUT_FIRST + 1000, 4, 0.06, 0.03):
            text = "".join(part for part, _ in episodes.segments(episode, True))
            ids = tokens.encode(text)
            logits = network(torch.tensor([ids]))[0]
            rows = range(0, len(ids), 16)
            columns = list(range(0, len(tokens.vocab), len(tokens.vocab) // 8))[:8]
            found.append({"messages": episode["messages"], "tools": episode["tools"], "text": text, "tokens": ids, "likeliest": logits.argmax(-1).tolist(), "columns": columns,
                          "rows": list(rows),
                          "logits": [[round(logits[r, c].item(), 5) for c in columns] for r in rows]})
    Path(out).write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{out}: {len(found)} episodes, {sum(len(f['tokens']) for f in found)} tokens")


if __name__ == "__main__":
    main()

"""Makes calibration.jsonl, what the quantizers may watch the pocket agent read: expert episodes of training structures.

    python3 pocket/calibration.py build/release/pocket-episodes
"""
import json
import sys
from pathlib import Path

import episodes

FIRST, EPISODES = 3 * 10**6, 64


def main():
    lines = []
    for episode in episodes.stream(sys.argv[1], "both", FIRST, EPISODES, 0.06, 0.03):
        text = "".join(part for part, _ in episodes.segments(episode, True))
        lines.append(json.dumps({"prompt": text}, ensure_ascii=False))
    (Path(__file__).parent / "calibration.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} episodes")


if __name__ == "__main__":
    main()

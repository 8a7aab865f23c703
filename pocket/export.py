"""A trained pocket agent as a GGUF file that any llama.cpp runs: weights in BF16, norms and biases in F32.

    python3 pocket/export.py OUT/final.pt pocket.gguf [--name pocket-dense] [--f32]

Needs gguf-py, which deps/llama.sh leaves in deps/llama/source/gguf-py.
"""
import argparse
import os
import sys
from pathlib import Path

import numpy as np
import torch

import model as decoder
import tokenizer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "deps/llama/source/gguf-py"))
import gguf  # noqa: E402

CONTEXT = 2048


def bfloat16(values):
    """Rounded to the nearest, ties to even, as 16-bit patterns."""
    return values.to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)


class Writer:
    def __init__(self, file, shape, tokens, name, as_f32):
        self.as_f32 = as_f32
        self.out = out = gguf.GGUFWriter(file, "llama")
        out.add_name(name)
        out.add_description("A teaching and test model for the pocket worlds of unmask; no evidence about large models.")
        out.add_context_length(CONTEXT)
        out.add_embedding_length(shape.width)
        out.add_block_count(shape.layers)
        out.add_feed_forward_length(shape.feed_forward)
        out.add_head_count(shape.heads)
        out.add_head_count_kv(shape.heads)
        out.add_layer_norm_rms_eps(shape.epsilon)
        out.add_rope_freq_base(shape.rope_base)
        out.add_rope_dimension_count(shape.head_width)
        out.add_vocab_size(shape.vocabulary)
        out.add_file_type(gguf.LlamaFileType.ALL_F32 if as_f32 else gguf.LlamaFileType.MOSTLY_BF16)
        if shape.experts:
            out.add_expert_count(shape.experts)
            out.add_expert_used_count(shape.experts_used)
        # The marks of a call are ordinary text to the parser of calls, the others are never shown.
        shown = {"<call>", "<args>", "</call>"}
        kinds = [gguf.TokenType.NORMAL if t not in tokenizer.SPECIAL
                 else gguf.TokenType.USER_DEFINED if t in shown else gguf.TokenType.CONTROL for t in tokens.vocab]
        out.add_tokenizer_model("gpt2")
        out.add_tokenizer_pre("gpt-2")
        out.add_token_list(tokens.vocab)
        out.add_token_types(kinds)
        out.add_token_merges(tokens.merges)
        out.add_bos_token_id(tokens.id["<s>"])
        out.add_eos_token_id(tokens.id["<e>"])
        out.add_add_bos_token(False)
        out.add_chat_template((HERE / "template.jinja").read_text())

    def add(self, name, tensor):
        if tensor.dim() >= 2 and not self.as_f32:
            data = np.ascontiguousarray(bfloat16(tensor.contiguous()))
            self.out.add_tensor(name, data.view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            self.out.add_tensor(name, np.ascontiguousarray(tensor.float().numpy()))

    def close(self):
        self.out.write_header_to_file()
        self.out.write_kv_data_to_file()
        self.out.write_tensors_to_file()
        self.out.close()


def write_block(writer, weights, shape, i):
    ours, theirs = f"blocks.{i}.", f"blk.{i}."
    writer.add(theirs + "attn_norm.weight", weights[ours + "attention_norm.weight"])
    for short, long in dict(q="attn_q", k="attn_k", v="attn_v", o="attn_output").items():
        writer.add(f"{theirs}{long}.weight", weights[f"{ours}attention.{short}.weight"])
    for short in "qk":
        writer.add(f"{theirs}attn_{short}.bias", weights[f"{ours}attention.{short}.bias"])
    writer.add(theirs + "ffn_norm.weight", weights[ours + "feed_norm.weight"])
    if not shape.experts:
        for kind in ("gate", "up", "down"):
            writer.add(f"{theirs}ffn_{kind}.weight", weights[f"{ours}feed.{kind}.weight"])
        return
    writer.add(theirs + "ffn_gate_inp.weight", weights[ours + "feed.router.weight"].float())
    for kind in ("gate", "up", "down"):
        experts = [weights[f"{ours}feed.experts.{e}.{kind}.weight"] for e in range(shape.experts)]
        writer.add(f"{theirs}ffn_{kind}_exps.weight", torch.stack(experts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("gguf")
    parser.add_argument("--name", default="pocket-dense")
    parser.add_argument("--f32", action="store_true")
    options = parser.parse_args()
    state = torch.load(options.checkpoint)
    shape, weights = decoder.Shape(**state["shape"]), state["weights"]
    tokens = tokenizer.Tokenizer(HERE / "vocabulary.json")
    part = f"{options.gguf}.part"
    writer = Writer(part, shape, tokens, options.name, options.f32)
    writer.add("token_embd.weight", weights["embedding.weight"])
    writer.add("output_norm.weight", weights["norm.weight"])
    for i in range(shape.layers):
        write_block(writer, weights, shape, i)
    writer.close()
    os.replace(part, options.gguf)
    print(f"{options.gguf}: {os.path.getsize(options.gguf):,} bytes")


if __name__ == "__main__":
    main()

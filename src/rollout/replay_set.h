// The decisions a replay asks for: all of some logs', or a sample of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rollout/replay_context.h"
#include "trace/episode.h"
#include "trace/replay.h"

namespace unmask {

struct ReplaySource {
  const Episode* episode = nullptr;
  std::string domain;
  std::shared_ptr<const AgentView> view;  // nullptr: its contexts cannot be rebuilt
};

struct ReplayItem {
  std::size_t source = 0;  // index of the episode
  AgentDecision decision;
  int turns = 0;  // AgentConversation::turns
};

// In the order of episodes and, within one, of decisions.
// Threads  uses `threads`; 0: one per processor.
std::vector<ReplayItem> all_decisions(std::span<const ReplaySource> sources, int threads);

// A sample of `count` of them, in their order; all where there are no more.
//
// Tasks take turns, in an order the seed draws, each giving a decision of its episodes drawn
// without replacement, until there are enough: no long task crowds out the others, and a smaller
// sample with the same seed is part of a larger one.
std::vector<ReplayItem> sampled(std::span<const ReplaySource> sources,
                                const std::vector<ReplayItem>& items, std::size_t count,
                                std::uint64_t seed);

// A decision with what is written of it before its replies.
struct PreparedContext {
  ReplayItem item;
  std::string id;       // "e12m5": message 5 of episode 12; "e12m5a1": its second attempt
  std::string written;  // its line, after that of its tools where they are new
};

// Threads  uses `threads`; 0: one per processor.
std::vector<PreparedContext> prepared(std::span<const ReplaySource> sources,
                                      std::span<const ReplayItem> items, int threads);

}  // namespace unmask

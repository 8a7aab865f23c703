// The replay itself: every chosen context given to every arm, one call of its model a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "failure/call_check.h"
#include "llm/chat_model.h"
#include "rollout/replay_file.h"
#include "rollout/replay_set.h"
#include "trace/replay.h"

namespace unmask {

struct ReplayAsked {
  ReplayArm arm;
  ChatModel* model = nullptr;
  bool constrain_names = false;
  std::size_t endpoint = 0;  // index into ReplayPlan::slots
  std::string name;          // what errors call it
};

struct ReplayPlan {
  std::span<const ReplaySource> sources;
  const std::vector<PreparedContext>& contexts;
  std::vector<ReplayAsked> arms;  // in the order of ReplayHead::arms
  std::vector<int> slots;         // requests at once at each endpoint
  int concurrency = 0;            // in all; 0: as many as the endpoints allow
  int samples = 1;
  std::uint64_t seed = 0;
  bool timings = false;  // ReplayReply::seconds: not the same twice
};

// Told from several threads, one call at a time.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  virtual void answered(std::size_t done) = 0;  // replies that are there, earlier ones included
};

struct ReplayControl {
  std::stop_token drain;    // ask for no further reply
  std::stop_token abandon;  // give up those in flight
};

struct ReplayEnd {
  std::size_t written = 0;  // replies in the file, with earlier ones
  std::size_t left = 0;
  bool stopped = false;
  std::optional<Error> error;  // why it could not go on, one sentence
};

// What an arm said to a context, judged as far as that needs no environment.
ReplayReply replay_reply(ChatReply reply, const CallCheck& check);

// Asks for the replies the file lacks. An arm is asked all decisions of an episode in turn, so that
// each request begins with the one before; episodes and arms run side by side.
//
// A conversation that is too long for an arm's window, or that its server refuses, is a reply with
// an `error`; one that a server never answered is none until that server answers another. The
// replay ends with an error, as a run does, when an arm refuses everything or is gone
// (model_health.h).
ReplayEnd replay_decisions(const ReplayPlan& plan, ReplayFile& file, ReplayObserver& observer,
                           const ReplayControl& control);

}  // namespace unmask

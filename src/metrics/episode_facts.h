// metrics: episodes -> numbers per episode and per task. Counts and means only; uncertainty belongs
// to compare and stats.
//
// EpisodeFacts is everything the later rooms need of one episode, without its texts, so that a log
// of any length fits in memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure/channel.h"
#include "failure/classify.h"
#include "trace/episode.h"

namespace unmask {

struct EpisodeDecisions;  // metrics/episode_decisions.h

// Position of a call: the agent's call index 1-5, 6-10, 11-20, 21+ (METHOD 4).
inline constexpr int kPositionBins = 4;
int position_bin(int zero_based_position);
std::string_view position_bin_label(int bin);  // "1-5"

// The episode's agent messages in four parts of equal number (METHOD 4), 0 ... 3.
inline constexpr int kQuarters = 4;

struct FailedCall {
  Side side = Side::Agent;
  Channel channel = Channel::Rejected;
  SubKind kind = SubKind::None;
  Cause cause = Cause::None;
  std::string name;
  std::string evidence;  // cut to kEvidenceBytes on a character boundary
  int message = 0;
  int position = 0;
  bool in_budget = false;
  Repair repair = Repair::None;
  enum class Recovery { Recovered, NotRecovered, Censored } recovery = Recovery::NotRecovered;
};
inline constexpr std::size_t kEvidenceBytes = 400;

// Calls of the agent that were refused before the environment saw them, by what became of them.
struct RepairCounts {
  long refused = 0;  // the sum of the three
  long repaired = 0;
  long unrepaired = 0;
  long withdrawn = 0;

  bool operator==(const RepairCounts&) const = default;
};

struct EpisodeFacts {
  std::string domain;
  std::string task_id;
  int trial = 0;
  std::optional<std::int64_t> seed;
  Termination termination = Termination::Unknown;
  bool excluded = false;        // infrastructure error: never ran
  bool assumed = false;         // stands for an excluded or missing one: an outcome, no calls
  std::optional<bool> success;  // nullopt: ungraded. Meaningless where excluded
  std::optional<double> reward;
  int errors_all = 0;    // E: failed tool messages, both sides (METHOD 3), and refused attempts
                         // of the agent that spend budget
  int errors_agent = 0;  // E with --count agent
  int agent_calls = 0;   // the denominator of the rates: answered calls and leaked markup,
                         // System excluded
  int user_calls = 0;
  int unanswered = 0;  // the agent's calls without a reply
  int system = 0;      // the agent's calls in channel System
  int not_offered_ok = 0;
  int orphan_results = 0;
  ToolEvidence tool_evidence = ToolEvidence::ErrorTexts;
  std::array<int, kChannelCount> agent_channel{};  // the agent's calls per Channel
  std::array<int, kPositionBins> position_calls{};
  // (bin, channel) -> failures
  std::array<std::array<int, kChannelCount>, kPositionBins> position_failures{};
  // By quarter of the episode's agent messages; nothing where the error budget ended the episode:
  // it has no last part, and what would be taken for it ends in a failure by construction.
  std::array<int, kQuarters> quarter_calls{};
  std::array<std::array<int, kChannelCount>, kQuarters> quarter_failures{};
  RepairCounts repair;
  std::vector<FailedCall> failures;   // both sides, in order
  std::vector<ClassifiedCall> calls;  // all of them, where the caller keeps them; else empty
  std::vector<int> burst_lengths;     // runs of consecutive failed agent calls
  int repeated_after_failure = 0;     // identical agent call repeated after it failed
  int steps = 0;                      // messages
  int agent_turns = 0;                // agent messages
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> completion_tokens;
  std::optional<double> seconds;
  std::optional<double> agent_cost_usd;
  std::uint64_t trajectory_hash = 0;  // over roles, texts, calls: equal trajectories, equal hash
  std::string model;
  std::string policy_hash;
  std::string id;
  std::string where;
  // Decisions with log-probabilities, where the log has them and the caller keeps them; else null.
  std::shared_ptr<const EpisodeDecisions> decisions;
};

// Shape    one episode in, its facts out; `classified` must come from the same episode.
// Recovery by METHOD 4: the agent's next call in a later message succeeds. A repaired call was a
// message of its own, so the calls of the message that came of it are later.
// A failure with no later call is censored when the error budget ended the episode, else not
// recovered.
EpisodeFacts episode_facts(const Episode& episode, const ClassifiedEpisode& classified);

}  // namespace unmask

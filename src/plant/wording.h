// Puts a scripted episode into words: the messages tau2-bench would have logged, with texts whose
// channel is known. Error texts follow the environments' own, since the classifier reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "plant/script.h"
#include "trace/episode.h"
#include "trace/known_tools.h"

namespace unmask {

// A call and its answer. In the texts '^' stands for the task's number (two digits) and '~' for a
// digit drawn for the call.
struct CallWords {
  std::string_view tool;
  std::string_view arguments;
  std::string_view answer;
};

struct DomainWords {
  std::string_view domain;
  std::string_view request;  // how the user opens
  std::span<const CallWords> ok;
  std::span<const CallWords> user_ok;  // empty: the user has no tools
  std::span<const CallWords> schema;
  std::span<const CallWords> entity;
  std::span<const CallWords> rejected;
  std::span<const std::string_view> near_miss;  // misspelt offered names
  std::span<const std::string_view> invented;
  std::span<const std::string_view> novel;  // invented too, kept for the candidate
};

// Errors   InvalidArgument: no words for this domain; says which there are.
Result<const DomainWords*> domain_words(std::string_view domain);

// `names` hallucinated names, mixing the other side's tools, near misses and inventions, then
// `novel` more that are none of the first.
std::vector<std::string> hallucinated_vocabulary(const DomainWords& words, int names, int novel);

// Where the episode stands in its run.
struct EpisodePlace {
  int task = 0;
  int trial = 0;
  std::string_view arm;  // part of the id
};

Episode put_into_words(const ScriptedEpisode& script, const EpisodePlace& place,
                       const DomainWords& words, std::span<const std::string> vocabulary, Rng& rng);

std::string planted_task_id(int task);
std::int64_t planted_trial_seed(int trial);

// The run around the episodes.
RunInfo planted_run_info(const DomainWords& words, std::string_view label, int tasks, int trials,
                         int max_steps, int max_errors, std::uint64_t seed);

}  // namespace unmask

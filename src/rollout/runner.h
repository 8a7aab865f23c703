// A plan's episodes, played and saved: the run itself.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/episode_key.h"
#include "rollout/episode_store.h"
#include "rollout/participant_factory.h"
#include "rollout/run_plan.h"
#include "rollout/schedule.h"
#include "trace/episode.h"

namespace unmask {

// One episode of the plan.
struct PlannedEpisode {
  EpisodeKey key;
  const ArmPlan* arm = nullptr;
  const StagedDomain* stage = nullptr;
  const Task* task = nullptr;
};

using Stages = std::map<std::string, StagedDomain>;  // by domain

// The episodes of the plan that are the shard's. In order of trials, tasks and then arms, so that a
// run broken off leaves paired arms; all arms of a (domain, task, trial) are one shard's.
// `plan` and `stages` must outlive them.
std::vector<PlannedEpisode> planned_episodes(const RunPlan& plan, const Stages& stages,
                                             const Shard& shard);

// Told from several threads, one call at a time.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void begun(const EpisodeKey& key) = 0;
  // The episode is on the disk.
  virtual void saved(const EpisodeKey& key, const Episode& episode) = 0;
  // It was given up, or refused, and will be played by the next run.
  virtual void left(const EpisodeKey& key) = 0;
};

struct RunControl {
  std::stop_token drain;    // begin no further episode
  std::stop_token abandon;  // give up those in flight; they are not saved
};

struct RunEnd {
  std::size_t saved = 0;
  std::size_t left = 0;  // neither saved now nor before
  bool stopped = false;
  std::optional<Error> error;  // why it could not go on, one sentence
};

// Plays `episodes` that the store has no outcome of.
//
// The run ends with an error when an episode cannot be saved, a task cannot begin, or a model is of
// no use: it has not answered a single request and three episodes failed at it, or twice as many
// episodes in a row as its endpoint may have at once, and at least ten, found it gone.
RunEnd run_episodes(const RunPlan& plan, const std::vector<PlannedEpisode>& episodes,
                    ParticipantFactory& factory, EpisodeStore& store, RunObserver& observer,
                    const RunControl& control);

// The endpoints of a plan and the slots of each: one for each server, file, and for scripted
// models together; where arms disagree about max_concurrency the smallest counts.
struct EndpointTable {
  std::vector<std::string> names;       // as the plan first says it
  std::vector<std::string> identities;  // "http://h/v1" and "http://h/v1/" are one server
  std::vector<int> slots;

  std::size_t index(const ModelPlan& model) const;
};
EndpointTable endpoints_of(const RunPlan& plan);

}  // namespace unmask

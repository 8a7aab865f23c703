// How a run is getting on, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "failure/classify.h"
#include "rollout/runner.h"

namespace unmask {

enum class ProgressForm { Bars, Lines, Json, Quiet };

// What is counted of the episodes of one arm.
struct ArmTally {
  std::size_t total = 0;  // of the plan
  std::size_t done = 0;   // with an outcome
  std::size_t infrastructure = 0;
  std::size_t graded = 0;
  std::size_t passed = 0;
  std::size_t calls = 0;         // of the agent
  std::size_t hallucinated = 0;  // of these, with a name that was not offered
  std::int64_t tokens = 0;       // written by the agent

  void add(const Episode& episode, const Classifier& classifier);
};

// A bar an arm that redraws itself on a terminal; elsewhere a line an arm when another tenth is
// done and at the end; or one JSON object a line:
//   {"event":"begin","arm","done","total"}
//   {"event":"episode","arm","domain","task","trial","termination","success","done","total"}
//   {"event":"left","arm","domain","task","trial"}
//   {"event":"end","saved","left","stopped","error"}
// An "episode" is on the disk when its line is written.
class RunProgress : public RunObserver {
 public:
  RunProgress(const RunPlan& plan, const std::vector<PlannedEpisode>& episodes, ProgressForm form);

  // Episodes of earlier runs, before the first of this one.
  void count_found(const EpisodeKey& key, const Episode& episode);
  void start();
  void finish(const RunEnd& end);

  void begun(const EpisodeKey& key) override;
  void saved(const EpisodeKey& key, const Episode& episode) override;
  void left(const EpisodeKey& key) override;

  std::size_t in_flight() const { return in_flight_; }
  const ArmTally& tally(const std::string& arm) const { return arms_.at(arm).tally; }

 private:
  struct Arm {
    ArmTally tally;
    std::size_t done_before = 0;
    std::int64_t tokens_before = 0;
    std::size_t tenth_told = 0;
  };
  const Classifier& classifier_of(const EpisodeKey& key);
  std::string line_of(const std::string& label, const Arm& arm) const;
  void draw_bars(bool now);
  void write_json(const EpisodeKey& key, const Episode& episode, const Arm& arm) const;

  const RunPlan& plan_;
  ProgressForm form_;
  std::vector<std::string> labels_;
  std::map<std::string, Arm> arms_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Classifier>> classifiers_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_at_;
  std::size_t lines_drawn_ = 0;
  std::size_t in_flight_ = 0;
};

// Bars where standard error is a terminal, else lines.
ProgressForm usual_progress_form();

}  // namespace unmask

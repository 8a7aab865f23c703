#include "compare/pairing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "compare/comparison.h"

namespace unmask {
namespace {

std::set<std::string> domains(const Arm& arm) {
  std::set<std::string> names;
  for (const TaskEpisodes& task : arm.tasks) names.insert(task.domain);
  return names;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + (name.empty() ? std::string("unnamed") : name);
  }
  return text.empty() ? "none" : text;
}

// An arm whose log names no domain takes the name of the other arm's only one.
Arm with_domain_of(const Arm& arm, const Arm& other) {
  const std::set<std::string> own = domains(arm);
  const std::set<std::string> theirs = domains(other);
  if (own != std::set<std::string>{""} || theirs.size() != 1) return arm;
  Arm renamed = arm;
  for (TaskEpisodes& task : renamed.tasks) task.domain = *theirs.begin();
  for (std::size_t i = 0; i < renamed.episodes.size(); ++i)
    renamed.episodes.edit(i).domain = *theirs.begin();
  return renamed;
}

using TaskIndex = std::map<std::pair<std::string, std::string>, std::size_t>;

TaskIndex index_tasks(const Arm& arm) {
  TaskIndex index;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    index.emplace(std::pair(arm.tasks[t].domain, arm.tasks[t].id), t);
  }
  return index;
}

bool share_a_domain(const Arm& a, const Arm& b) {
  const std::set<std::string> theirs = domains(b);
  for (const std::string& name : domains(a)) {
    if (theirs.contains(name)) return true;
  }
  return false;
}

// Indices of the arm's tasks that the other arm has; the rest goes to `unpaired`.
std::vector<std::size_t> common_tasks(const Arm& arm, const TaskIndex& other, const char* which,
                                      std::vector<std::string>& unpaired) {
  std::vector<std::size_t> common;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    const TaskEpisodes& task = arm.tasks[t];
    if (other.contains(std::pair(task.domain, task.id))) {
      common.push_back(t);
    } else {
      unpaired.push_back("only in " + std::string(which) + ": " + task.id);
    }
  }
  return common;
}

}  // namespace

Result<PairedArms> pair_tasks(const Arm& baseline, const Arm& candidate) {
  const Arm b = with_domain_of(baseline, candidate);
  const Arm c = with_domain_of(candidate, baseline);
  if (!share_a_domain(b, c)) {
    return Error{ErrorKind::InvalidArgument,
                 "the arms are of different domains (baseline: " + listed(domains(b)) +
                     "; candidate: " + listed(domains(c)) + ") and cannot be compared",
                 ""};
  }
  PairedArms paired;
  const std::vector<std::size_t> of_baseline =
      common_tasks(b, index_tasks(c), "baseline", paired.unpaired);
  const std::vector<std::size_t> of_candidate =
      common_tasks(c, index_tasks(b), "candidate", paired.unpaired);
  if (of_baseline.empty()) {
    return Error{ErrorKind::InvalidArgument,
                 "the arms have no task in common, so nothing can be compared", ""};
  }
  // Both arms are sorted the same way, so the common tasks come out in the same order.
  paired.baseline = select_tasks(b, of_baseline);
  paired.candidate = select_tasks(c, of_candidate);
  UNMASK_CHECK(paired.baseline.tasks.size() == paired.candidate.tasks.size());
  for (std::size_t t = 0; t < paired.baseline.tasks.size(); ++t) {
    UNMASK_CHECK(paired.baseline.tasks[t].id == paired.candidate.tasks[t].id);
  }
  return paired;
}

namespace {

long episodes_that_ran(const Arm& arm, const TaskEpisodes& task) {
  long ran = 0;
  for (std::size_t e = task.begin; e < task.end; ++e) {
    if (!arm.episodes[e].excluded && !arm.episodes[e].assumed) ++ran;
  }
  return ran;
}

}  // namespace

bool never_ran(const Arm& arm, std::size_t task) {
  for (std::size_t e = arm.tasks[task].begin; e < arm.tasks[task].end; ++e) {
    if (!arm.episodes[e].excluded) return false;
  }
  return true;
}

std::vector<std::size_t> drop_tasks_that_never_ran(PairedArms& arms) {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> dropped;
  std::vector<std::string> listed_as;
  for (std::size_t t = 0; t < arms.baseline.tasks.size(); ++t) {
    const bool b = never_ran(arms.baseline, t);
    const bool c = never_ran(arms.candidate, t);
    (b || c ? dropped : kept).push_back(t);
    if (!b && !c) continue;
    const char* where = !c ? "baseline" : !b ? "candidate" : "either arm";
    listed_as.push_back(std::string(kNeverRan) + where + ": " + arms.baseline.tasks[t].id);
  }
  for (std::size_t t = 0; t < arms.baseline.tasks.size(); ++t) {
    TaskEpisodes& baseline = arms.baseline.tasks[t];
    TaskEpisodes& candidate = arms.candidate.tasks[t];
    if (episodes_that_ran(arms.baseline, baseline) > 0 &&
        episodes_that_ran(arms.candidate, candidate) > 0)
      continue;
    baseline.weight = 0;
    candidate.weight = 0;
  }
  if (kept.empty() || dropped.empty()) return {};
  arms.baseline = select_tasks(arms.baseline, kept);
  arms.candidate = select_tasks(arms.candidate, kept);
  arms.unpaired.insert(arms.unpaired.end(), listed_as.begin(), listed_as.end());
  return dropped;
}

std::optional<PairedArms> weighed_alike(const PairedArms& arms) {
  PairedArms weighed = arms;
  bool differs = false;
  for (std::size_t t = 0; t < arms.baseline.tasks.size(); ++t) {
    TaskEpisodes& baseline = weighed.baseline.tasks[t];
    TaskEpisodes& candidate = weighed.candidate.tasks[t];
    const long n = episodes_that_ran(arms.baseline, baseline);
    const long m = episodes_that_ran(arms.candidate, candidate);
    if (n == m) continue;
    differs = true;
    const auto both = static_cast<double>(std::min(n, m));
    baseline.weight = n > 0 ? both / static_cast<double>(n) : 0;
    candidate.weight = m > 0 ? both / static_cast<double>(m) : 0;
  }
  if (!differs) return std::nullopt;
  return weighed;
}

std::vector<double> PairedNumbers::differences() const {
  std::vector<double> out(baseline.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = candidate[i] - baseline[i];
  return out;
}

PairedNumbers pair_numbers(const std::vector<std::optional<double>>& baseline,
                           const std::vector<std::optional<double>>& candidate) {
  UNMASK_CHECK(baseline.size() == candidate.size());
  PairedNumbers paired;
  for (std::size_t t = 0; t < baseline.size(); ++t) {
    if (!baseline[t] || !candidate[t]) continue;
    paired.baseline.push_back(*baseline[t]);
    paired.candidate.push_back(*candidate[t]);
    paired.tasks.push_back(t);
  }
  return paired;
}

Arm recounted_at(const Arm& arm, int max_errors) {
  Arm recounted = arm;
  for (std::size_t i = 0; i < recounted.episodes.size(); ++i) {
    if (!is_evaluated(recounted.episodes[i]) || recounted.episodes[i].errors_all < max_errors)
      continue;
    EpisodeFacts& stopped = recounted.episodes.edit(i);
    stopped.success = false;
    stopped.reward = 0.0;
  }
  return recounted;
}

}  // namespace unmask

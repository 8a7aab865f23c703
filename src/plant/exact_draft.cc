#include "plant/exact_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "plant/apportion.h"

namespace unmask {
namespace {

// Failures and successes of the agent's calls in order, true for a failure. Every run of failures
// is followed by a success, but for the last of an episode that the budget cuts.
std::vector<bool> order_of_calls(const Draft& draft, Rng& rng) {
  if (draft.failures == 0) return std::vector<bool>(static_cast<std::size_t>(draft.ok), false);
  const bool last_run_ends = draft.cut || draft.recovered == 0;
  const int runs = draft.recovered + (last_run_ends ? 1 : 0);
  const std::vector<int> lengths = composition(draft.failures, runs, rng);
  // Successes before the first run, between runs (at least one each), and after the last.
  std::vector<int> gaps(static_cast<std::size_t>(runs) + 1, 1);
  gaps.front() = 0;
  if (last_run_ends) gaps.back() = 0;
  const int fixed = std::accumulate(gaps.begin(), gaps.end(), 0);
  const auto open = static_cast<std::uint32_t>(last_run_ends ? runs : runs + 1);
  for (int extra = fixed; extra < draft.ok; ++extra) ++gaps[rng.below(open)];
  std::vector<bool> calls;
  for (std::size_t run = 0; run < gaps.size(); ++run) {
    calls.insert(calls.end(), static_cast<std::size_t>(gaps[run]), false);
    if (run < lengths.size())
      calls.insert(calls.end(), static_cast<std::size_t>(lengths[run]), true);
  }
  return calls;
}

template <typename T>
void add_copies(std::vector<T>& values, int copies, T value) {
  values.insert(values.end(), static_cast<std::size_t>(copies), value);
}

}  // namespace

int ArmDraft::all_failures() const {
  return arm_.tool_name + arm_.schema + arm_.entity + arm_.rejected + arm_.malformed;
}

Result<Done> ArmDraft::draw(const ArmModel& model, const std::vector<PairedLatents>& latents,
                            std::uint64_t seed) {
  Rng calls(seed, name_ + " calls");
  Rng outcomes(seed, name_ + " outcomes");
  drafts_.clear();
  std::vector<std::size_t> eligible;
  for (const PairedLatents& task : latents) {
    const TaskTraits traits = model.traits(name_ == "baseline" ? task.baseline : task.candidate);
    for (int trial = 0; trial < options_.trials; ++trial) {
      const ScriptedEpisode script = model.draw_calls(traits, calls);
      Draft draft;
      draft.failures = agent_failures(script);
      draft.ok = static_cast<int>(script.calls.size()) - draft.failures;
      draft.cut = script.end == ScriptEnd::OutOfErrors;
      draft.score = model.success_probability(traits, script) - outcomes.uniform();
      if (!draft.cut) eligible.push_back(drafts_.size());
      drafts_.push_back(draft);
    }
  }
  if (std::ssize(eligible) < arm_.successes)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("{}.successes cannot be {}: at these rates the budget ends {} of {} "
                    "episodes",
                    name_, arm_.successes, drafts_.size() - eligible.size(), drafts_.size()),
        ""};
  std::stable_sort(eligible.begin(), eligible.end(), [this](std::size_t a, std::size_t b) {
    return drafts_[a].score > drafts_[b].score;
  });
  for (int i = 0; i < arm_.successes; ++i)
    drafts_[eligible[static_cast<std::size_t>(i)]].success = true;
  return Done{};
}

std::vector<double> ArmDraft::task_success() const {
  std::vector<double> means(drafts_.size() / static_cast<std::size_t>(options_.trials), 0);
  for (std::size_t i = 0; i < drafts_.size(); ++i)
    means[i / static_cast<std::size_t>(options_.trials)] +=
        drafts_[i].success ? 1.0 / options_.trials : 0;
  return means;
}

Result<Done> ArmDraft::settle_counts(std::uint64_t seed) {
  Rng rng(seed, name_ + " counts");
  using Pass = Result<Done> (ArmDraft::*)(Rng&);
  for (const Pass pass : {&ArmDraft::settle_user_calls, &ArmDraft::settle_failures,
                          &ArmDraft::settle_ok, &ArmDraft::settle_recovered}) {
    const Result<Done> settled = (this->*pass)(rng);
    if (!settled) return settled;
  }
  return Done{};
}

// The user's failures go where they leave the classes of settle_failures open: to episodes that
// fail.
Result<Done> ArmDraft::settle_user_calls(Rng& rng) {
  std::vector<Share> failures;
  std::vector<Share> others;
  for (const Draft& draft : drafts_) {
    failures.push_back({0, 0, draft.success ? 0 : options_.max_errors - 1});
    others.push_back({0, 0, 3});
  }
  Result<Done> settled = settle(failures, arm_.user_failures, name_ + ".user_failures", rng);
  if (!settled) return settled;
  settled = settle(others, arm_.user_calls - arm_.user_failures, name_ + ".user_calls", rng);
  if (!settled) return settled;
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    drafts_[i].user_failures = failures[i].value;
    drafts_[i].user_calls = failures[i].value + others[i].value;
  }
  return Done{};
}

// Successes with the fewest drawn failures become the tight ones; the other successes get more than
// k_tight; failed episodes anything up to the budget, which then ends them.
Result<Done> ArmDraft::settle_failures(Rng& rng) {
  std::vector<std::size_t> successes;
  for (std::size_t i = 0; i < drafts_.size(); ++i)
    if (drafts_[i].success) successes.push_back(i);
  shuffle(successes, rng);
  std::stable_sort(successes.begin(), successes.end(), [this](std::size_t a, std::size_t b) {
    return drafts_[a].failures < drafts_[b].failures;
  });
  const int last = options_.max_errors - 1;
  std::vector<Share> shares;
  for (const Draft& draft : drafts_)
    shares.push_back({draft.failures, 0, options_.max_errors - draft.user_failures});
  for (std::size_t rank = 0; rank < successes.size(); ++rank) {
    const bool tight = static_cast<int>(rank) < arm_.successes_tight;
    if (!tight && options_.k_tight >= last)
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("{}.successes_tight must equal successes: a success has at most "
                               "max_errors - 1 = {} failed calls, which is within k_tight = {}",
                               name_, last, options_.k_tight),
                   ""};
    Share& share = shares[successes[rank]];
    share.lo = tight ? 0 : options_.k_tight + 1;
    share.hi = tight ? std::min(options_.k_tight, last) : last;
  }
  const Result<Done> settled =
      settle(shares, all_failures(), "the sum of " + name_ + "'s failed calls", rng);
  if (!settled) return settled;
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    drafts_[i].failures = shares[i].value;
    drafts_[i].cut = shares[i].value + drafts_[i].user_failures >= options_.max_errors;
  }
  return Done{};
}

Result<Done> ArmDraft::settle_ok(Rng& rng) {
  std::vector<Share> shares;
  for (const Draft& draft : drafts_) {
    // Greeting, request and the closing two; 2 messages a call, 4 a call of the user.
    const int room = (options_.max_steps - 6 - 4 * draft.user_calls) / 2 - draft.failures;
    shares.push_back({draft.ok, draft.cut ? 0 : 1, std::max(1, room)});
  }
  const Result<Done> settled =
      settle(shares, arm_.agent_calls - all_failures(), name_ + "'s calls that succeed", rng);
  if (!settled) return settled;
  for (std::size_t i = 0; i < drafts_.size(); ++i) drafts_[i].ok = shares[i].value;
  return Done{};
}

// A run of failures followed by a success is one recovered failure, whatever its length. The
// failure at which the budget cuts is censored.
Result<Done> ArmDraft::settle_recovered(Rng& rng) {
  std::vector<Share> shares;
  int counted = 0;
  for (const Draft& draft : drafts_) {
    const int uncensored = draft.failures - (draft.cut ? 1 : 0);
    counted += uncensored;
    const int most = std::min(uncensored, draft.ok);
    shares.push_back({static_cast<int>(std::lround(uncensored * arm_.recovery)), 0, most});
  }
  const long total = std::lround(counted * arm_.recovery);
  const Result<Done> settled =
      settle(shares, total, name_ + "'s recovered failures (recovery)", rng);
  if (!settled) return settled;
  for (std::size_t i = 0; i < drafts_.size(); ++i) drafts_[i].recovered = shares[i].value;
  return Done{};
}

std::vector<ScriptedEpisode> ArmDraft::scripts(const std::vector<int>& name_counts,
                                               std::uint64_t seed) const {
  Rng rng(seed, name_ + " deal");
  std::vector<CallKind> kinds;
  add_copies(kinds, arm_.tool_name, CallKind::ToolName);
  add_copies(kinds, arm_.schema, CallKind::Schema);
  add_copies(kinds, arm_.entity, CallKind::Entity);
  add_copies(kinds, arm_.rejected, CallKind::Rejected);
  add_copies(kinds, arm_.malformed, CallKind::Malformed);
  shuffle(kinds, rng);
  std::vector<int> names;
  for (std::size_t name = 0; name < name_counts.size(); ++name)
    add_copies(names, name_counts[name], static_cast<int>(name));
  shuffle(names, rng);

  std::vector<ScriptedEpisode> scripts;
  for (const Draft& draft : drafts_) {
    ScriptedEpisode script;
    script.success = draft.success;
    script.end = draft.cut ? ScriptEnd::OutOfErrors : ScriptEnd::Completed;
    std::vector<bool> user_fails;
    add_copies(user_fails, draft.user_failures, true);
    add_copies(user_fails, draft.user_calls - draft.user_failures, false);
    const std::vector<bool> order = order_of_calls(draft, rng);
    for (std::size_t i = 0; i < order.size(); ++i) {
      while (!user_fails.empty() && rng.below(static_cast<std::uint32_t>(order.size() - i)) == 0) {
        const bool fails = user_fails.back();
        user_fails.pop_back();
        script.calls.push_back({Side::User, fails ? CallKind::ToolName : CallKind::Ok, -1, false});
      }
      ScriptedCall call;
      if (order[i]) {
        call.kind = kinds.back();
        kinds.pop_back();
      }
      if (call.kind == CallKind::ToolName) {
        call.name = names.back();
        names.pop_back();
      }
      script.calls.push_back(call);
    }
    UNMASK_CHECK(user_fails.empty());  // the last gap took what was left
    scripts.push_back(std::move(script));
  }
  UNMASK_CHECK(kinds.empty() && names.empty());
  return scripts;
}

}  // namespace unmask

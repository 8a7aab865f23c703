// Every name is two tokens, `"get_` and `order"`; names that begin with the same token part at the
// second, all others at the first. At the node where the closest competitor parts from the choice
// its token lies the planted margin below the choice's, other competitors of that node a drawn gap
// of at least 3 nats farther; at the other node nothing but the choice is within reach. A token
// that leads nowhere closes the list at exactly the reach, so that bounds are known too.
#include "plant/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/json_writer.h"
#include "base/rng.h"

namespace unmask {
namespace {

struct Name {
  std::string_view first;
  std::string_view second;
  bool offered;

  std::string text() const { return std::string(first) + std::string(second); }
};

constexpr std::array<Name, 12> kNames = {{{"get_", "order", true},
                                          {"get_", "user", true},
                                          {"get_", "bill", true},
                                          {"cancel_", "order", true},
                                          {"update_", "address", true},
                                          {"book_", "flight", true},
                                          {"send_", "refund", true},
                                          {"get_", "refund", false},
                                          {"get_", "status", false},
                                          {"reset_", "line", false},
                                          {"close_", "account", false},
                                          {"pay_", "invoice", false}}};
constexpr std::string_view kCall = "<call>";
constexpr std::string_view kTalk = "I";

Error usage(const char* option, const char* range) {
  return Error{ErrorKind::InvalidArgument,
               fmt::format("{} of a planted replay must be {}", option, range), ""};
}

Result<Done> check(const PlantedReplayOptions& o) {
  const auto share = [](double x) { return x >= 0 && x <= 1; };
  if (o.tasks < 1 || o.tasks > 100000) return usage("tasks", "1 to 100,000");
  if (o.decisions < 1 || o.decisions > 100000) return usage("decisions", "1 to 100,000");
  if (!(o.sigma > 0 && o.sigma <= 100)) return usage("sigma", "above 0, at most 100");
  if (!(std::abs(o.lambda) <= 100)) return usage("lambda", "-100 to 100");
  if (!(std::abs(o.alpha) <= 100)) return usage("alpha", "-100 to 100");
  if (!(o.replay_noise >= 0 && o.replay_noise <= 100)) return usage("replay noise", "0 to 100");
  if (!(o.task_share >= 0 && o.task_share < 1)) return usage("task share", "in [0, 1)");
  if (!(o.mean_margin > 0 && o.mean_margin <= 1000)) return usage("mean margin", "above 0");
  if (!(o.reach > 0 && o.reach <= 1000)) return usage("reach", "above 0, at most 1,000");
  if (!(o.candidate_reach >= 0 && o.candidate_reach <= 1000))
    return usage("candidate reach", "0 to 1,000");
  if (!share(o.talk) || !share(o.hallucinated) || !share(o.tempting))
    return usage("a share", "in [0, 1]");
  return Done{};
}

struct Branch {
  std::string token;
  double logit = 0;
};

// One position: the taken token is the likeliest of those that are given.
void write_position(JsonWriter& json, std::vector<Branch> branches, std::string_view filler,
                    double reach) {
  std::stable_sort(branches.begin(), branches.end(),
                   [](const Branch& a, const Branch& b) { return a.logit > b.logit; });
  const double last = branches.front().logit - reach;
  while (branches.back().logit <= last) branches.pop_back();
  branches.push_back({std::string(filler), last});
  double sum = 0;
  for (const Branch& branch : branches) sum += std::exp(branch.logit - branches.front().logit);
  const double norm = branches.front().logit + std::log(sum);
  json.begin_object().field("token", branches.front().token);
  json.field("logprob", branches.front().logit - norm).key("top").begin_array();
  for (const Branch& branch : branches)
    json.begin_array().value(branch.token).value(branch.logit - norm).end_array();
  json.end_array().end_object();
}

// A decision as every arm meets it.
struct Scene {
  bool calls = true;  // what the baseline does
  Name choice{};
  Name closest{};
  std::vector<std::pair<Name, double>> others;  // competitors of the same node, and their gaps
  bool second_node = false;
};

// The margins of one arm.
struct ArmMargins {
  double act = 0;
  double tool = 0;
  double reach = 0;
};

std::string quoted(std::string_view part, bool first) {
  return first ? "\"" + std::string(part) : std::string(part) + "\"";
}

class ReplayPlanter {
 public:
  explicit ReplayPlanter(const PlantedReplayOptions& options)
      : options_(options), rng_(options.seed, "plant/replay") {}

  Replay plant() {
    write_head();
    for (int task = 0; task < options_.tasks; ++task) {
      const double act_effect = rng_.normal();
      const double tool_effect = rng_.normal();
      for (int i = 0; i < options_.decisions; ++i) plant_decision(task, i, act_effect, tool_effect);
    }
    return std::move(replay_);
  }

 private:
  void write_head() {
    ReplayHead& head = replay_.head;
    head.log = "planted";
    head.domain = "planted";
    head.seed = options_.seed;
    head.eligible = head.selected = static_cast<long>(options_.tasks) * options_.decisions;
    head.arms.push_back({"baseline", "bf16", "planted", "", true, ""});
    if (options_.repeat_baseline)
      head.arms.push_back({"baseline again", "bf16", "planted", "", false, "baseline"});
    head.arms.push_back({"candidate", "int4", "planted", "", false, ""});
    ReplayTools tools{"planted", {}};
    for (const Name& name : kNames)
      if (name.offered) tools.names.push_back(name.text());
    replay_.tools.push_back(std::move(tools));
  }

  void plant_decision(int task, int index, double act_effect, double tool_effect) {
    ReplayContext context;
    context.id = fmt::format("{}-{}", task, index);
    context.domain = "planted";
    context.task_id = fmt::format("task-{:04}", task);
    context.turn = context.message = context.call_index = index;
    context.turns = options_.decisions;
    context.tools_id = "planted";
    const Scene scene = draw_scene();
    const Drawn act = draw(act_effect);
    const Drawn tool = draw(tool_effect);
    add_reply(context.id, "baseline", scene, {act.first, tool.first, options_.reach});
    if (options_.repeat_baseline)
      add_reply(context.id, "baseline again", scene, {act.again, tool.again, options_.reach});
    const double reach = options_.candidate_reach > 0 ? options_.candidate_reach : options_.reach;
    add_reply(context.id, "candidate", scene, {act.candidate, tool.candidate, reach});
    replay_.contexts.push_back(std::move(context));
  }

  struct Drawn {
    double first = 0;
    double again = 0;
    double candidate = 0;
  };

  // Margins of one kind of decision, as seen from what the baseline chose: where its noise turns
  // the choice round, the true margin of that choice is below 0.
  Drawn draw(double task_effect) {
    double margin = -options_.mean_margin * std::log1p(-rng_.uniform());
    double seen = margin + options_.replay_noise * rng_.normal();
    if (seen < 0) {
      margin = -margin;
      seen = -seen;
    }
    const double e = options_.sigma * (std::sqrt(1 - options_.task_share) * rng_.normal() +
                                       std::sqrt(options_.task_share) * task_effect);
    const double again = margin + options_.replay_noise * rng_.normal();
    return {seen, again, options_.alpha + options_.lambda * margin + e};
  }

  const Name& draw_name(bool offered) {
    while (true) {
      const Name& name = kNames[rng_.below(kNames.size())];
      if (name.offered == offered) return name;
    }
  }

  Scene draw_scene() {
    Scene scene;
    scene.calls = !rng_.bernoulli(options_.talk);
    scene.choice = draw_name(!rng_.bernoulli(options_.hallucinated));
    const bool offered = !rng_.bernoulli(options_.tempting);
    // A first token that several names share would lead to all of them at once, so a competitor
    // shares one only with the choice.
    const auto competes = [&](const Name& name) {
      const bool same = name.first == scene.choice.first && name.second == scene.choice.second;
      return !same && (name.first != "get_" || scene.choice.first == "get_");
    };
    do scene.closest = draw_name(offered);
    while (!competes(scene.closest));
    scene.second_node = scene.closest.first == scene.choice.first;
    for (const Name& name : kNames) {
      const bool closest = name.first == scene.closest.first && name.second == scene.closest.second;
      if (closest || !competes(name) || (name.first == scene.choice.first) != scene.second_node)
        continue;
      scene.others.emplace_back(name, 3 - 2 * std::log1p(-rng_.uniform()));
    }
    return scene;
  }

  static std::string decision_of(const Scene& scene, const ArmMargins& margins, bool calls,
                                 const Name& name) {
    JsonWriter json;
    json.begin_object().key("first");
    const std::string_view chosen = scene.calls ? kCall : kTalk;
    const std::string_view other = scene.calls ? kTalk : kCall;
    write_position(json, {{std::string(chosen), 0}, {std::string(other), -margins.act}},
                   calls ? "<call>{" : "It", margins.reach);
    if (calls) {
      json.key("name").begin_object().field("name", name.text()).key("tokens").begin_array();
      for (const bool first : {true, false})
        write_position(json, branches_at(scene, margins.tool, first, name), "zz", margins.reach);
      json.end_array().end_object();
    }
    json.end_object();
    return json.take();
  }

  // The alternatives at the first or second token of the reply's name.
  static std::vector<Branch> branches_at(const Scene& scene, double margin, bool first,
                                         const Name& name) {
    const auto part = [&](const Name& of) { return quoted(first ? of.first : of.second, first); };
    if (first == scene.second_node) return {{part(name), 0}};
    std::vector<Branch> branches = {{part(scene.choice), 0}, {part(scene.closest), -margin}};
    for (const auto& [other, gap] : scene.others) branches.push_back({part(other), -margin - gap});
    return branches;
  }

  void add_reply(const std::string& context, const char* arm, const Scene& scene,
                 const ArmMargins& margins) {
    ReplayReply reply;
    reply.context_id = context;
    reply.arm = arm;
    const bool calls = scene.calls == (margins.act >= 0);
    const Name& name = margins.tool >= 0 ? scene.choice : scene.closest;
    if (calls) {
      ToolCall call;
      call.name = name.text();
      call.arguments = "{}";
      reply.calls.push_back(std::move(call));
      if (!name.offered) {
        reply.channel = "tool_name";
        reply.sub_kind = "invented";
      }
    } else {
      reply.text = "I will look into that.";
    }
    reply.decision = decision_of(scene, margins, calls, name);
    replay_.replies.push_back(std::move(reply));
  }

  const PlantedReplayOptions& options_;
  Rng rng_;
  Replay replay_;
};

}  // namespace

Result<Replay> plant_replay(const PlantedReplayOptions& options) {
  const Result<Done> usable = check(options);
  if (!usable) return usable.error();
  return ReplayPlanter(options).plant();
}

}  // namespace unmask

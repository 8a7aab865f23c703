// pocket-episodes: episodes of the scripted expert in the pocket worlds, as JSON Lines on standard
// output, to train a small agent on. Tasks are those for training only: none shares its structure
// with a task for evaluation. The same arguments give the same bytes.
//
//   pocket-episodes --world telecom|retail|both --first SEED --count N
//                   --mistake P --wander P --recover P
//
// Episode number SEED is task trainSEED; with both worlds each number gives one episode of each.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "environment/domain.h"
#include "environment/json.h"
#include "environment/pocket/scene.h"
#include "environment/surface.h"
#include "rollout/conversation.h"
#include "rollout/episode.h"
#include "rollout/pocket_expert.h"
#include "rollout/pocket_user.h"

namespace unmask {
namespace {

struct Options {
  std::string world = "both";
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  PocketRates rates;
};

Value call_json(const ToolCall& call) {
  const Result<Value> arguments = parse_json(call.arguments);
  return Value::dict(
      {{"name", call.name}, {"arguments", arguments ? *arguments : Value(call.arguments)}});
}

Value agent_json(const Message& message, PocketMove move) {
  Value json = Value::dict({{"role", "assistant"}, {"content", message.text}});
  if (!message.calls.empty()) {
    std::vector<Value> calls;
    for (const ToolCall& call : message.calls) calls.push_back(call_json(call));
    json.set("tool_calls", Value::list(std::move(calls)));
  }
  json.set("kind", to_string(move));
  return json;
}

// What the agent sees: not the user's calls, nor their results, nor the last word.
Value messages_json(const std::string& system, const Episode& episode,
                    std::span<const PocketMove> moves) {
  std::vector<Value> messages = {Value::dict({{"role", "system"}, {"content", system}})};
  std::size_t said = 0;
  for (const Message& message : episode.messages) {
    if (message.role == Role::Agent) messages.push_back(agent_json(message, moves[said++]));
    if (message.role == Role::User && message.calls.empty() && said < moves.size())
      messages.push_back(Value::dict({{"role", "user"}, {"content", message.text}}));
    if (message.role == Role::Tool && message.result->side == Side::Agent)
      messages.push_back(Value::dict({{"role", "tool"}, {"content", message.result->text}}));
  }
  return Value::list(std::move(messages));
}

Result<std::string> episode_line(const std::shared_ptr<const Domain>& general,
                                 const pocket::PocketWorld& world, std::uint64_t number,
                                 const PocketRates& rates) {
  const pocket::TaskNumber task_number{true, number};
  const Task task = pocket::task_of(world, task_number);
  const Result<std::shared_ptr<const Domain>> domain = domain_of_task(general, task.id);
  if (!domain) return domain.error();
  pocket::Scene scene = pocket::scene_of(world, task_number);
  PocketUser user((*domain)->user_tools, scene.opening);
  PocketExpert expert(world, std::move(scene), rates);
  TurnOptions options;
  options.seed = static_cast<std::int64_t>(number);
  const Result<PlayedEpisode> played = play_episode(*domain, task, expert, &user, options);
  if (!played) return played.error();
  const Episode& episode = played->episode;
  const Result<Value> tools = parse_json(chat_tools(own_surface(**domain).agent_tools));
  if (!tools) return tools.error();
  return dump_json(
             Value::dict({{"world", world.name.substr(world.name.find('_') + 1)},
                          {"seed", number},
                          {"success", episode.success.value_or(false)},
                          {"messages", messages_json((*domain)->policy, episode, expert.moves())},
                          {"tools", *tools}})) +
         "\n";
}

Result<Done> write_episodes(const Options& options) {
  std::vector<std::shared_ptr<const Domain>> domains;
  std::vector<const pocket::PocketWorld*> worlds;
  for (const pocket::PocketWorld* world : {&pocket::telecom(), &pocket::retail()}) {
    if (options.world != "both" && "pocket_" + options.world != world->name) continue;
    const Result<std::shared_ptr<const Domain>> domain =
        load_domain(DataFolder::absent(), world->name);
    if (!domain) return domain.error();
    domains.push_back(*domain);
    worlds.push_back(world);
  }
  for (std::uint64_t i = 0; i < options.count; ++i) {
    for (std::size_t w = 0; w < worlds.size(); ++w) {
      const Result<std::string> line =
          episode_line(domains[w], *worlds[w], options.first + i, options.rates);
      if (!line) return line.error();
      if (std::fwrite(line->data(), 1, line->size(), stdout) != line->size())
        return Error{ErrorKind::Unavailable, "standard output cannot be written to", ""};
    }
  }
  if (std::fflush(stdout) != 0)
    return Error{ErrorKind::Unavailable, "standard output cannot be written to", ""};
  return Done{};
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Episodes of the pocket worlds' scripted expert, as JSON Lines.");
  app.add_option("--world", options.world, "telecom, retail or both")
      ->check(CLI::IsMember({"telecom", "retail", "both"}));
  app.add_option("--first", options.first, "number of the first task for training");
  app.add_option("--count", options.count, "how many numbers");
  app.add_option("--mistake", options.rates.mistake, "of the calls that are due");
  app.add_option("--wander", options.rates.wander, "needless reads");
  app.add_option("--recover", options.rates.recover, "right calls after a mistake");
  CLI11_PARSE(app, argc, argv);
  const Result<Done> checked = check(options.rates);
  const Result<Done> written = checked ? write_episodes(options) : checked;
  if (written) return 0;
  std::fprintf(stderr, "pocket-episodes: %s\n", to_string(written.error()).c_str());
  return 2;
}

}  // namespace
}  // namespace unmask

int main(int argc, char** argv) {
  return unmask::run(argc, argv);
}

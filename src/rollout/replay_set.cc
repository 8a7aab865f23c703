#include "rollout/replay_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "base/rng.h"
#include "llm/chat_request.h"
#include "llm/file_hash.h"
#include "trace/replay_writer.h"

namespace unmask {

namespace {

ReplayTools tools_of(const AgentView& view) {
  ReplayTools tools;
  std::string all;
  for (const OfferedTool& tool : view.offered) {
    tools.names.push_back(tool.name);
    all += tool.name + '\0';
  }
  tools.id = fmt::format("t{:016x}", Rng::hash(all));
  return tools;
}

std::string id_of(const ReplayItem& item) {
  const AgentDecision& decision = item.decision;
  std::string id = fmt::format("e{}m{}", item.source, decision.message);
  if (decision.attempt > 0) id += fmt::format("a{}", decision.attempt);
  return id;
}

ReplayContext context_of(const ReplaySource& source, const ReplayItem& item,
                         const AgentConversation& conversation) {
  const AgentDecision& decision = item.decision;
  ReplayContext context;
  context.id = id_of(item);
  context.domain = source.domain;
  context.task_id = source.episode->task_id;
  context.trial = source.episode->trial;
  context.episode = source.episode->id;
  context.message = static_cast<int>(decision.message);
  context.attempt = static_cast<int>(decision.attempt);
  context.turn = decision.turn;
  context.turns = item.turns;
  context.call_index = decision.call_index;
  context.tools_id = tools_of(*source.view).id;
  const std::span<const ChatMessage> heard(conversation.messages.data(), decision.heard);
  context.sha256 = text_sha256(chat_context_json(heard, source.view->tools));
  Message action = recorded_action(*source.episode, decision);
  context.recorded_text = std::move(action.text);
  context.recorded_calls = std::move(action.calls);
  return context;
}

// Fisher and Yates'.
void shuffle(std::vector<std::size_t>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[rng.below(static_cast<std::uint32_t>(i))]);
}

}  // namespace

std::vector<ReplayItem> all_decisions(std::span<const ReplaySource> sources, int threads) {
  std::vector<std::vector<ReplayItem>> found(sources.size());
  parallel_for(sources.size(), threads, [&](std::size_t i) {
    if (!sources[i].view) return;
    const AgentConversation conversation = conversation_of(*sources[i].episode, *sources[i].view);
    for (const AgentDecision& decision : conversation.decisions)
      found[i].push_back({i, decision, conversation.turns});
  });
  std::vector<ReplayItem> items;
  for (const std::vector<ReplayItem>& each : found)
    items.insert(items.end(), each.begin(), each.end());
  return items;
}

std::vector<ReplayItem> sampled(std::span<const ReplaySource> sources,
                                const std::vector<ReplayItem>& items, std::size_t count,
                                std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> tasks;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ReplaySource& source = sources[items[i].source];
    tasks[source.domain + '\0' + source.episode->task_id].push_back(i);
  }
  std::vector<std::vector<std::size_t>*> queues;
  for (auto& [task, decisions] : tasks) {
    Rng rng(seed, "replay decisions of " + task);
    shuffle(decisions, rng);
    queues.push_back(&decisions);
  }
  std::vector<std::size_t> order(queues.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Rng rng(seed, "replay tasks");
  shuffle(order, rng);
  std::set<std::size_t> chosen;
  for (std::size_t round = 0; chosen.size() < std::min(count, items.size()); ++round)
    for (const std::size_t task : order)
      if (round < queues[task]->size() && chosen.size() < count)
        chosen.insert((*queues[task])[round]);
  std::vector<ReplayItem> sample;
  for (const std::size_t i : chosen) sample.push_back(items[i]);
  return sample;
}

std::vector<PreparedContext> prepared(std::span<const ReplaySource> sources,
                                      std::span<const ReplayItem> items, int threads) {
  std::map<std::size_t, std::vector<std::size_t>> by_source;
  for (std::size_t i = 0; i < items.size(); ++i) by_source[items[i].source].push_back(i);
  const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> groups(by_source.begin(),
                                                                             by_source.end());
  std::vector<PreparedContext> contexts(items.size());
  parallel_for(groups.size(), threads, [&](std::size_t g) {
    const ReplaySource& source = sources[groups[g].first];
    const AgentConversation conversation = conversation_of(*source.episode, *source.view);
    for (const std::size_t i : groups[g].second)
      contexts[i] = {items[i], id_of(items[i]),
                     replay_line(context_of(source, items[i], conversation))};
  });
  std::set<std::string> told;
  for (PreparedContext& context : contexts) {
    const ReplayTools tools = tools_of(*sources[context.item.source].view);
    if (told.insert(tools.id).second) context.written = replay_line(tools) + context.written;
  }
  return contexts;
}

}  // namespace unmask

#include "failure/pairing.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace unmask {
namespace {

// The calls of one message and the results that follow it.
struct Window {
  std::size_t first_call = 0;  // [first_call, last_call) in Pairing::calls
  std::size_t last_call = 0;
  std::vector<const ToolResult*> results;  // those taken become nullptr
};

bool fits(const PairedCall& call, const ToolResult* result) {
  return call.result == nullptr && result != nullptr && call.call->side == result->side;
}

// Places in order of arrival, each taken once.
struct Queue {
  std::vector<std::size_t> places;
  std::size_t taken = 0;

  bool empty() const { return taken == places.size(); }
  std::size_t take() { return places[taken++]; }
};

std::size_t side_index(Side side) {
  return side == Side::Agent ? 0 : 1;
}

using QueuesById = std::unordered_map<std::string_view, std::array<Queue, 2>>;  // one per side

// A message with a handful of calls, by far the most common, is matched by looking.
constexpr std::size_t kFewResults = 16;

void pair_few_by_id(std::vector<PairedCall>& calls, Window& window) {
  for (std::size_t c = window.first_call; c < window.last_call; ++c) {
    if (calls[c].call->id.empty()) continue;
    for (const ToolResult*& result : window.results) {
      if (!fits(calls[c], result) || result->call_id != calls[c].call->id) continue;
      calls[c].result = std::exchange(result, nullptr);
    }
  }
}

void pair_many_by_id(std::vector<PairedCall>& calls, Window& window) {
  QueuesById by_id;
  for (std::size_t r = 0; r < window.results.size(); ++r) {
    const ToolResult& result = *window.results[r];
    by_id[result.call_id][side_index(result.side)].places.push_back(r);
  }
  for (std::size_t c = window.first_call; c < window.last_call; ++c) {
    const ToolCall& call = *calls[c].call;
    if (call.id.empty()) continue;
    const QueuesById::iterator same = by_id.find(call.id);
    if (same == by_id.end()) continue;
    Queue& queue = same->second[side_index(call.side)];
    if (!queue.empty()) calls[c].result = std::exchange(window.results[queue.take()], nullptr);
  }
}

// Pairs what is left in order, separately for the two sides. `may` decides on (call, result).
template <typename May>
void pair_by_order(std::vector<PairedCall>& calls, Window& window, const May& may) {
  for (const Side side : {Side::Agent, Side::User}) {
    std::size_t c = window.first_call;
    for (const ToolResult*& result : window.results) {
      if (result == nullptr || result->side != side) continue;
      while (c < window.last_call && (calls[c].result != nullptr || calls[c].call->side != side ||
                                      !may(*calls[c].call, *result))) {
        ++c;
      }
      if (c == window.last_call) break;
      calls[c].result = result;
      result = nullptr;
    }
  }
}

bool one_lacks_an_id(const ToolCall& call, const ToolResult& result) {
  return call.id.empty() || result.call_id.empty();
}

std::vector<Window> collect(const Episode& episode, std::vector<PairedCall>& calls) {
  std::vector<Window> windows;
  bool open = false;  // results belong to the last window
  for (std::size_t m = 0; m < episode.messages.size(); ++m) {
    const Message& message = episode.messages[m];
    if (message.result) {
      if (!open) windows.push_back(Window{calls.size(), calls.size(), {}});
      open = true;
      windows.back().results.push_back(&*message.result);
    }
    if (message.calls.empty()) {
      // A harness note does not end the results of a message.
      open = open && (message.role == Role::Tool || message.role == Role::System);
      continue;
    }
    Window window{calls.size(), calls.size() + message.calls.size(), {}};
    for (const ToolCall& call : message.calls) {
      calls.push_back(PairedCall{&call, nullptr, static_cast<int>(m)});
    }
    windows.push_back(std::move(window));
    open = true;
  }
  return windows;
}

// Results left over after their own window: late answers, renumbered answers, orphans.
void pair_leftovers(std::vector<PairedCall>& calls, std::vector<Window>& windows) {
  std::unordered_set<std::string_view> ids;
  for (const PairedCall& call : calls) ids.insert(call.call->id);
  QueuesById open;
  std::size_t opened = 0;
  for (Window& window : windows) {
    for (; opened < window.last_call; ++opened) {
      const ToolCall& call = *calls[opened].call;
      if (calls[opened].result != nullptr || call.id.empty()) continue;
      open[call.id][side_index(call.side)].places.push_back(opened);
    }
    for (const ToolResult*& result : window.results) {
      if (result == nullptr || result->call_id.empty()) continue;
      const QueuesById::iterator same = open.find(result->call_id);
      if (same == open.end()) continue;
      Queue& queue = same->second[side_index(result->side)];
      while (result != nullptr && !queue.empty()) {
        PairedCall& call = calls[queue.take()];  // answered meanwhile, perhaps, by order
        if (call.result == nullptr) call.result = std::exchange(result, nullptr);
      }
    }
    pair_by_order(calls, window, [&](const ToolCall&, const ToolResult& result) {
      return !ids.contains(result.call_id);
    });
  }
}

}  // namespace

Pairing pair_calls(const Episode& episode) {
  Pairing pairing;
  std::vector<Window> windows = collect(episode, pairing.calls);
  bool left_over = false;
  for (Window& window : windows) {
    if (window.results.size() <= kFewResults) {
      pair_few_by_id(pairing.calls, window);
    } else {
      pair_many_by_id(pairing.calls, window);
    }
    pair_by_order(pairing.calls, window, one_lacks_an_id);
    for (const ToolResult* result : window.results) left_over = left_over || result != nullptr;
  }
  if (left_over) pair_leftovers(pairing.calls, windows);
  for (const Window& window : windows) {
    for (const ToolResult* result : window.results) {
      if (result != nullptr) pairing.orphans.push_back(result);
    }
  }
  return pairing;
}

}  // namespace unmask

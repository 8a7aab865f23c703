#include "ingest/head_members.h"

#include <algorithm>
#include <cstddef>

#include "ingest/json_scan.h"

namespace unmask {

std::optional<std::vector<HeadMember>> head_members(std::string_view head) {
  const std::size_t begin = skip_space(head, 0);
  if (begin >= head.size() || head[begin] != '{') return std::nullopt;
  std::vector<HeadMember> members;
  JsonWalk walk(head, begin);
  while (const std::optional<JsonWalk::Item> item = walk.next())
    members.push_back({item->key, head.substr(item->begin, item->end - item->begin)});
  if (members.empty() && walk.state() == JsonWalk::State::Malformed) return std::nullopt;
  return members;
}

const HeadMember* find_member(const std::vector<HeadMember>& members, std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const HeadMember& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

}  // namespace unmask

// One Inspect sample -> one episode. Internal to ingest; docs/inspect.md has the tables.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/inspect_score.h"
#include "ingest/json_tree.h"
#include "ingest/notes.h"
#include "trace/episode.h"

namespace unmask {

// Texts a sample keeps once and refers to as "attachment://<key>" ("tc://<key>" in older logs), and
// the budget of all text taken from a sample: one long attachment may be referred to many times.
class Attachments {
 public:
  Attachments() = default;
  explicit Attachments(const JsonNode& by_hash);                // {"<hash>": "text"}
  explicit Attachments(const std::vector<JsonNode>& by_index);  // chunked samples: keys 0, 1, ...

  // `text` itself, or what it refers to; a reference to nothing stays and is counted. Empty once
  // the budget is spent.
  std::string_view resolve(std::string_view text);

  void set_budget(std::uint64_t bytes) { left_ = bytes; }
  bool overspent() const { return overspent_; }
  int missing() const { return missing_; }

 private:
  std::map<std::string, std::string_view, std::less<>> texts_;
  std::uint64_t left_ = std::uint64_t{4} << 30;
  bool overspent_ = false;
  int missing_ = 0;
};

// A sample, wherever its pieces were stored.
struct InspectSample {
  JsonNode fields;  // id, epoch, scores, error, limit ...
  std::vector<JsonNode> messages;
  std::vector<JsonNode> events;
  Attachments attachments;
};

struct InspectReading {
  ScorerChoice scorer;
  std::optional<double> pass_threshold;
  std::uint64_t max_sample_bytes = std::uint64_t{4} << 30;  // of text in one episode
};

// `where` becomes Episode::where and the place in the notes. nullopt: dropped, and said so there.
std::optional<Episode> read_inspect_sample(InspectSample& sample, const InspectReading& reading,
                                           const std::string& where, Notes& notes);

}  // namespace unmask

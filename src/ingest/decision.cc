#include "ingest/decision.h"

#include <algorithm>
#include <utility>

#include "ingest/json_tree.h"

namespace unmask {
namespace {

constexpr std::size_t kMostTokens = 1024;
constexpr double kRounding = 1e-3;  // of a server whose probabilities add up to a little over 1

Error malformed(const std::string& what) {
  return Error{ErrorKind::Malformed, "a decision's " + what, ""};
}

std::optional<double> logprob_of(const JsonNode& node) {
  const std::optional<double> value = node.number();
  if (!value || *value > kRounding) return std::nullopt;
  return std::min(*value, 0.0);
}

Result<Alternatives> alternatives_of(const JsonNode& node) {
  std::vector<TokenAlternative> top;
  const std::vector<JsonNode> elements = node.elements();
  if (elements.size() > kMostTokens) return malformed("token has more than 1024 alternatives");
  top.reserve(elements.size());
  for (const JsonNode& element : elements) {
    const std::vector<JsonNode> pair = element.elements();
    if (pair.size() != 2 || !pair[0].is_text())
      return malformed("alternative is no pair of a token and its log-probability");
    if (pair[1].missing()) continue;
    const std::optional<double> logprob = logprob_of(pair[1]);
    if (!logprob) return malformed("alternative has no log-probability of at most 0");
    top.push_back({*pair[0].text(), *logprob});
  }
  std::stable_sort(
      top.begin(), top.end(),
      [](const TokenAlternative& a, const TokenAlternative& b) { return a.logprob > b.logprob; });
  return Alternatives(top);
}

Result<TokenDecision> token_of(const JsonNode& node) {
  const std::optional<std::string_view> token = node["token"].text();
  if (!token) return malformed("token has no text");
  const std::optional<double> logprob = logprob_of(node["logprob"]);
  if (!logprob) return malformed("token has no log-probability of at most 0");
  Result<Alternatives> top = alternatives_of(node["top"]);
  if (!top) return top.error();
  return TokenDecision{std::string(*token), *logprob, std::move(*top)};
}

Result<NameDecision> name_of(const JsonNode& node) {
  const std::optional<std::string_view> name = node["name"].text();
  if (!name || name->empty()) return malformed("name is missing");
  NameDecision decision{std::string(*name), {}};
  const std::vector<JsonNode> tokens = node["tokens"].elements();
  if (tokens.empty()) return malformed("name has no tokens");
  if (tokens.size() > kMostTokens) return malformed("name has more than 1024 tokens");
  decision.tokens.reserve(tokens.size());
  for (const JsonNode& element : tokens) {
    Result<TokenDecision> token = token_of(element);
    if (!token) return token.error();
    decision.tokens.push_back(std::move(*token));
  }
  return decision;
}

}  // namespace

Result<Decision> parse_decision(std::string_view json) {
  const Result<JsonTree> tree = JsonTree::parse(json);
  if (!tree) return malformed("text " + tree.error().message);
  if (!tree->root().is_object()) return malformed("text is not a JSON object");
  Decision decision;
  const JsonNode first = tree->root()["first"];
  if (!first.missing()) {
    Result<TokenDecision> token = token_of(first);
    if (!token) return token.error();
    decision.first = std::move(*token);
  }
  const JsonNode name = tree->root()["name"];
  if (!name.missing()) {
    Result<NameDecision> found = name_of(name);
    if (!found) return found.error();
    decision.name = std::move(*found);
  }
  return decision;
}

}  // namespace unmask

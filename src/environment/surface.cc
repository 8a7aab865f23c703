#include "environment/surface.h"

#include <filesystem>
#include <set>

#include "base/file.h"
#include "environment/json.h"

namespace unmask {

namespace {

constexpr char kAgentPrompt[] =
    "<instructions>\n"
    "You work in customer service and help one user within the policy below. Each of your turns is "
    "either a message to the user or tool calls, never both. Arguments of calls are valid JSON. "
    "Where "
    "the policy forbids something, do not do it.\n"
    "</instructions>\n<policy>\n{domain_policy}\n</policy>";

constexpr char kPolicyAlone[] = "{domain_policy}";

constexpr char kSoloPrompt[] =
    "<instructions>\n"
    "You work in customer service and settle the ticket below within the policy. There is nobody "
    "to "
    "talk to: every turn is tool calls with valid JSON arguments. When the ticket is settled, call "
    "`done`, alone in its turn.\n"
    "</instructions>\n<policy>\n{domain_policy}\n</policy>\n<ticket>\n{ticket}\n</ticket>";

constexpr char kUserPrompt[] = "{guidelines}\n\n<scenario>\n{instructions}\n</scenario>";

Value own_tools(const Toolkit* toolkit) {
  std::vector<Value> schemas;
  if (toolkit)
    for (const Tool& tool : toolkit->tools) schemas.push_back(tool_schema(tool));
  return Value::list(std::move(schemas));
}

Error malformed(std::string message, const std::string& file) {
  return Error{ErrorKind::Malformed, std::move(message), file};
}

// Empty: the list offers exactly the toolkit's tools.
std::string complaint(const Value* list, const Toolkit* toolkit, std::string_view side) {
  if (!list || (!list->is_list() && !(list->is_none() && !toolkit)))
    return "it has no list \"" + std::string(side) + "\"";
  std::set<std::string> seen;
  for (const Value& entry : list->items()) {
    const Value* function = entry.find("function");
    const Value* name = function ? function->find("name") : nullptr;
    if (!name || !name->is_str())
      return "an entry of \"" + std::string(side) + "\" has no function name";
    if (!toolkit || !toolkit->find(name->as_str()))
      return "tool '" + name->as_str() + "' is unknown to the domain's " + std::string(side);
    if (!seen.insert(name->as_str()).second) return "tool '" + name->as_str() + "' comes twice";
  }
  if (toolkit)
    for (const Tool& tool : toolkit->tools)
      if (!seen.contains(tool.name))
        return "tool '" + tool.name + "' of the domain's " + std::string(side) + " is missing";
  return "";
}

// Takes a template where the file has it.
bool take_prompt(const Value& prompts, std::string_view name, std::string& into) {
  const Value* text = prompts.find(name);
  if (!text || !text->is_str()) return false;
  into = text->as_str();
  return true;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

Surface own_surface(const Domain& domain) {
  Surface surface;
  surface.agent_tools = own_tools(domain.agent_tools);
  surface.user_tools = own_tools(domain.user_tools);
  surface.policy = domain.policy;
  surface.agent_prompt = domain.row->generated ? kPolicyAlone : kAgentPrompt;
  surface.solo_prompt = kSoloPrompt;
  surface.user_prompt = kUserPrompt;
  surface.source = "unmask's own wording";
  return surface;
}

Surface surface_of_task(const Surface& surface, const Domain& world) {
  return world.row->generated ? own_surface(world) : surface;
}

Result<Surface> read_surface(const std::string& file, const Domain& domain) {
  const Result<std::string> text = read_file(file, std::uint64_t{1} << 28);
  if (!text) return text.error();
  const Result<Value> json = parse_json(*text);
  if (!json) return malformed(json.error().message, file + ": " + json.error().where);
  return surface_of(*json, file, domain);
}

Result<Surface> surface_of(const Value& json, const std::string& file, const Domain& domain) {
  for (const Side side : {Side::Agent, Side::User}) {
    const std::string_view name = side == Side::Agent ? "assistant" : "user";
    const std::string problem = complaint(json.find(name), domain.toolkit(side), name);
    if (!problem.empty()) return malformed("not a surface of this domain: " + problem, file);
  }
  const Value* policy = json.find("policy");
  if (!policy || !policy->is_str())
    return malformed("not a surface of this domain: it has no text \"policy\"", file);
  Surface surface = own_surface(domain);
  surface.agent_tools = *json.find("assistant");
  if (json.find("user")->is_list()) surface.user_tools = *json.find("user");
  surface.policy = policy->as_str();
  surface.source = file;
  surface.own_tools = false;
  if (const Value* prompts = json.find("prompts")) {
    const bool agent = take_prompt(*prompts, "agent", surface.agent_prompt);
    const bool solo = take_prompt(*prompts, "solo", surface.solo_prompt);
    const bool user = take_prompt(*prompts, "user", surface.user_prompt);
    surface.own_prompts = !(agent && solo && user);
  }
  return surface;
}

Result<Surface> find_surface(const std::string& folder, const std::string& given,
                             const Domain& domain) {
  if (domain.row->generated) return own_surface(domain);
  const std::string name(domain.row->name);
  const std::string base(domain.row->folder);
  for (const std::string& place : {folder, given.empty() ? given : given + "/surface"}) {
    if (place.empty()) continue;
    if (is_file(place + "/" + name + ".json"))
      return read_surface(place + "/" + name + ".json", domain);
    if (!is_file(place + "/" + base + ".json")) continue;
    Result<Surface> surface = read_surface(place + "/" + base + ".json", domain);
    if (surface) surface->policy = domain.policy;
    return surface;
  }
  if (folder.empty()) return own_surface(domain);
  return Error{ErrorKind::NotFound,
               "no surface of domain " + name +
                   " here: make it with tools/export_tau2_surface.py in "
                   "your τ²-bench environment",
               folder + "/" + name + ".json"};
}

std::string filled(const std::string& prompt_template,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (std::size_t i = 0; i < prompt_template.size();) {
    bool replaced = false;
    for (const auto& [name, value] : values) {
      const std::string mark = "{" + name + "}";
      if (prompt_template.compare(i, mark.size(), mark) != 0) continue;
      out += value;
      i += mark.size();
      replaced = true;
      break;
    }
    if (!replaced) out += prompt_template[i++];
  }
  return out;
}

}  // namespace unmask

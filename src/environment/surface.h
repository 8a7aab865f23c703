// What a model gets to see of a domain: tools as they are described to it, policy, prompts.
//
// Upstream's wording is read from a surface file, JSON made by tools/export_tau2_surface.py in the
// user's own τ²-bench:
//   {"assistant": [tool, ...], "user": [tool, ...], "policy": text,
//    "prompts": {"agent": template, "solo": template, "user": template}}
// where a tool is its OpenAI schema with "tool_type" and "mutates_state" beside "function", and
// "prompts" may be absent. Without such a file our own wording of the same signatures is used.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "environment/domain.h"
#include "environment/value.h"

namespace unmask {

struct Surface {
  Value agent_tools;  // a List, in the file's order
  Value user_tools;   // a List; empty where the user has no tools
  std::string policy;
  // Templates with {domain_policy}; solo also {ticket}; user {guidelines} and {instructions}.
  std::string agent_prompt;
  std::string solo_prompt;
  std::string user_prompt;
  std::string source;  // the file, or "unmask's own wording"
  bool own_tools = true;
  bool own_prompts = true;
};

// Our own wording.
Surface own_surface(const Domain& domain);

// Errors   NotFound; Malformed: not a surface, or its tools are not those of the domain (the first
//          that is missing or unknown is named).
Result<Surface> read_surface(const std::string& file, const Domain& domain);
// The same from what such a file holds; `source` is named in errors.
Result<Surface> surface_of(const Value& json, const std::string& source, const Domain& domain);

// The surface for a domain: <folder>/<domain>.json (or, for a policy variant, the file of its base
// domain with the variant's policy); else the same below `given`/surface, where `given` is the
// --tau2 folder; else our own wording. A folder that was asked for and lacks the file is an error.
Result<Surface> find_surface(const std::string& folder, const std::string& given,
                             const Domain& domain);

// What a model sees in the world of one task: the domain's surface, but where every task has a
// world, and so tools, of its own.
Surface surface_of_task(const Surface& surface, const Domain& world);

// The template with its {names} replaced, each once found, values taken as they are.
std::string filled(const std::string& prompt_template,
                   const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace unmask

// Tools as tables: one row a tool, with its signature and the function that does it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "environment/schema.h"
#include "environment/value.h"

namespace unmask {

enum class ToolType { Read, Write, Think, Generic };

std::string_view to_string(ToolType type);  // "read"

struct Parameter {
  std::string name;
  FieldType type;
  std::optional<Value> fallback;  // Python's default; nullopt: the caller must give it
  std::string description;        // our own words; models see upstream's where a surface is given
};

// What a tool acts on: upstream's `self`.
struct ToolScope {
  Value& db;           // the database of the toolkit, a model instance
  int& generated_ids;  // identifiers made up so far in this episode
  // What upstream keeps on the toolkit's class, outside the database; None before anything was
  // kept.
  Value& class_state;
};

// One value per parameter, in order.
using Arguments = std::span<const Value>;
// Throws PythonError where upstream raises. What it changed before stays changed.
using ToolFunction = Value (*)(ToolScope& self, Arguments arguments);

struct Tool {
  std::string name;
  std::string description;  // our own words
  ToolType type = ToolType::Read;
  bool mutates_state = false;  // replayed when a trajectory is graded
  std::vector<Parameter> parameters;
  ToolFunction run = nullptr;
};

struct Toolkit {
  std::string class_name;       // as error texts name it, "RetailTools"
  std::vector<Tool> tools;      // offered, in upstream's order
  std::vector<Tool> functions;  // not offered: for initialization actions and assertions

  const Tool* find(std::string_view name) const;           // among the tools
  const Tool* find_function(std::string_view name) const;  // tools and functions
};

// The arguments of a call by keyword, in the order of the parameters.
// Errors   throws PythonError with CPython 3.12's wording: the first unexpected keyword, else all
//          that is missing. class_name and tool.name are in the text.
std::vector<Value> bind_arguments(const std::string& class_name, const Tool& tool,
                                  const Value& keywords);

// The OpenAI schema of a tool in our own words, with upstream's names, types, defaults and required
// list: {"type": "function", "function": {...}, "tool_type": ..., "mutates_state": ...}.
Value tool_schema(const Tool& tool);

}  // namespace unmask

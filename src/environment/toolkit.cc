#include "environment/toolkit.h"

#include "base/check.h"
#include "environment/python.h"

namespace unmask {

std::string_view to_string(ToolType type) {
  switch (type) {
    case ToolType::Read:
      return "read";
    case ToolType::Write:
      return "write";
    case ToolType::Think:
      return "think";
    case ToolType::Generic:
      return "generic";
  }
  return "";
}

namespace {

const Tool* find_in(const std::vector<Tool>& tools, std::string_view name) {
  for (const Tool& tool : tools)
    if (tool.name == name) return &tool;
  return nullptr;
}

const Parameter* find_parameter(const Tool& tool, std::string_view name) {
  for (const Parameter& parameter : tool.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

// "'a'", "'a' and 'b'", "'a', 'b', and 'c'"
std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i && i + 1 == names.size())
      out += names.size() == 2 ? " and " : ", and ";
    else if (i)
      out += ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

}  // namespace

const Tool* Toolkit::find(std::string_view name) const {
  return find_in(tools, name);
}

const Tool* Toolkit::find_function(std::string_view name) const {
  const Tool* tool = find_in(tools, name);
  return tool ? tool : find_in(functions, name);
}

std::vector<Value> bind_arguments(const std::string& class_name, const Tool& tool,
                                  const Value& keywords) {
  UNMASK_CHECK(keywords.is_dict());
  const std::string function = class_name + "." + tool.name + "()";
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    const std::string& name = keywords.key(i);
    if (name == "self")
      python::raise_type_error(function + " got multiple values for argument 'self'");
    if (!find_parameter(tool, name))
      python::raise_type_error(function + " got an unexpected keyword argument '" + name + "'");
  }
  std::vector<Value> values;
  std::vector<std::string> missing;
  for (const Parameter& parameter : tool.parameters) {
    if (const Value* given = keywords.find(parameter.name))
      values.push_back(*given);
    else if (parameter.fallback)
      values.push_back(*parameter.fallback);
    else
      missing.push_back(parameter.name);
  }
  if (!missing.empty())
    python::raise_type_error(function + " missing " + std::to_string(missing.size()) +
                             " required positional argument" + (missing.size() == 1 ? "" : "s") +
                             ": " + quoted_list(missing));
  return values;
}

}  // namespace unmask

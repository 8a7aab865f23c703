// unmask tools DOMAIN: what a side can do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/console.h"
#include "app/world_flags.h"
#include "environment/json.h"
#include "environment/surface.h"
#include "report/screen.h"

namespace unmask {
namespace {

constexpr const char* kToolsDescription =
    "Lists the tools a domain offers to the agent, or to the simulated user, as a model sees "
    "them.\n"
    "Upstream's wording is shown where a surface file is at hand, else our own of the same "
    "signatures.\n";

constexpr const char* kToolsExamples =
    "examples:\n"
    "  unmask tools retail\n"
    "  unmask tools telecom --side user\n"
    "  unmask tools airline --json > tools.json\n";

struct ToolsArguments {
  std::string domain;
  std::string side = "agent";
  std::string surface;
  bool json = false;
  WorldFlags world;
};

std::string text_of(const Value* v) {
  return v && v->is_str() ? v->as_str() : "";
}

// "string", "integer | null", "'pending' | 'completed'", "list of string".
std::string type_text(const Value& schema) {
  std::vector<std::string> choices;
  if (const Value* any = schema.find("anyOf"))
    for (const Value& choice : any->items()) choices.push_back(type_text(choice));
  if (const Value* values = schema.find("enum"))
    for (const Value& value : values->items()) choices.push_back("'" + text_of(&value) + "'");
  if (const Value* only = schema.find("const")) choices.push_back("'" + text_of(only) + "'");
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " | "));
  if (const Value* reference = schema.find("$ref")) {
    const std::string name = text_of(reference);
    return name.substr(name.rfind('/') + 1);
  }
  const std::string type = text_of(schema.find("type"));
  const Value* items = schema.find("items");
  if (type == "array" && items && items->is_dict() && items->size() > 0)
    return "list of " + type_text(*items);
  return type.empty() ? "any" : type;
}

std::string parameters_text(const Value& function) {
  const Value* parameters = function.find("parameters");
  const Value* properties = parameters ? parameters->find("properties") : nullptr;
  if (!properties) return "";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < properties->size(); ++i) {
    const Value& property = (*properties)[i];
    std::string text = properties->key(i) + ": " + type_text(property);
    if (const Value* fallback = property.find("default")) text += " = " + dump_json(*fallback);
    texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

void put_tool(Screen& screen, const Value& tool) {
  const Value* function = tool.find("function");
  if (!function) return;
  const std::string name = text_of(function->find("name"));
  const Value* mutates = tool.find("mutates_state");
  std::string kind = text_of(tool.find("tool_type"));
  if (mutates && mutates->is_bool() && mutates->as_bool()) kind += ", changes state";
  screen.line(
      {{safe_for_terminal(name), Paint::Strong}, {"  " + safe_for_terminal(kind), Paint::Dim}});
  screen.paragraph("    ", safe_for_terminal("(" + parameters_text(*function) + ")"));
  const std::string description = text_of(function->find("description"));
  screen.paragraph("    ", safe_for_terminal(description.substr(0, description.find("\n\n"))),
                   Paint::Dim);
}

// The domain without its data: tools need none.
Domain bare_domain(const DomainRow& row) {
  Domain domain;
  domain.row = &row;
  domain.agent_tools = &row.agent_tools();
  domain.user_tools = row.user_tools ? row.user_tools() : nullptr;
  return domain;
}

Result<Surface> surface_of(const ToolsArguments& arguments) {
  if (arguments.domain.empty())
    return Error{ErrorKind::InvalidArgument,
                 "tools needs a domain: unmask tools DOMAIN; see unmask domains", ""};
  const Result<const DomainRow*> row = domain_named(arguments.domain);
  if (!row) return row.error();
  return find_surface(arguments.surface, tau2_folder(arguments.world), bare_domain(**row));
}

}  // namespace

ExitStatus run_tools(const Invocation& invocation) {
  CLI::App app(kToolsDescription, "tools");
  app.footer(kToolsExamples);
  ToolsArguments arguments;
  app.add_option("domain", arguments.domain)->type_name("DOMAIN")->check(suggested(domain_names()));
  app.add_option("--side", arguments.side, "agent or user")
      ->check(one_of({"agent", "user"}))
      ->type_name("SIDE")
      ->group("what");
  app.add_option("--tau2-surface", arguments.surface,
                 "folder of surface files made by tools/export_tau2_surface.py")
      ->type_name("DIR")
      ->group("data");
  app.add_flag("--json", arguments.json, "the tools in OpenAI's format, as JSON")->group("output");
  add_world_flags(app, arguments.world);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Surface> surface = surface_of(arguments);
  if (!surface) return fail(surface.error());
  const Value& tools = arguments.side == "user" ? surface->user_tools : surface->agent_tools;
  if (arguments.json) return print_result(dump_json_indented(tools, 2) + "\n");
  Screen screen(style_of_standard_output(arguments.world.color));
  for (const Value& tool : tools.items()) {
    put_tool(screen, tool);
    screen.blank();
  }
  screen.line(
      {{fmt::format("{} tool{} of the {}; wording: {}", tools.size(), tools.size() == 1 ? "" : "s",
                    arguments.side, safe_for_terminal(surface->source)),
        Paint::Dim}});
  return print_result(screen.take());
}

}  // namespace unmask

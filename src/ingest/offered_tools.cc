#include "ingest/offered_tools.h"

#include <utility>

namespace unmask {

void read_offered_tools(LazyValue value, std::string_view field, const FieldReader& fields,
                        std::optional<std::vector<OfferedTool>>& tools) {
  if (!fields.array(value, field)) return;
  tools.emplace();
  value.each_element([&](LazyValue element) {
    OfferedTool tool;
    element.each_member([&](std::string_view key, LazyValue member) {
      if (key == "name") fields.text(member, key, tool.name);
      if (key == "schema") fields.text(member, key, tool.schema);
      if (key == "definition") fields.text(member, key, tool.definition);
    });
    tools->push_back(std::move(tool));
  });
}

}  // namespace unmask

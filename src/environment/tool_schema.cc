// JSON Schema of tools in our own words, shaped as pydantic shapes a function's signature.
#include "environment/toolkit.h"

namespace unmask {

namespace {

// "gb_amount" -> "Gb Amount"
std::string title_of(const std::string& name) {
  std::string out = name;
  bool first = true;
  for (char& c : out) {
    if (c == '_') {
      c = ' ';
      first = true;
      continue;
    }
    if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    first = false;
  }
  return out;
}

// Schemas of types, and of the classes that they refer to.
class SchemaWriter {
 public:
  Value of(const FieldType& type);
  Value definitions = Value::dict();

 private:
  Value all_of(const std::vector<FieldType>& types) {
    std::vector<Value> schemas;
    schemas.reserve(types.size());
    for (const FieldType& type : types) schemas.push_back(of(type));
    return Value::list(std::move(schemas));
  }
  Value reference(const std::string& name) { return Value::dict({{"$ref", "#/$defs/" + name}}); }
  void define(const ModelClass& model_class);
  void define(const EnumClass& enum_class);
};

Value texts(const std::vector<std::string>& values) {
  return Value::list(std::vector<Value>(values.begin(), values.end()));
}

Value SchemaWriter::of(const FieldType& type) {
  const auto named = [](const char* name) { return Value::dict({{"type", name}}); };
  switch (type.tag) {
    case FieldType::Tag::Any:
      return Value::dict();
    case FieldType::Tag::Str:
      return named("string");
    case FieldType::Tag::Int:
      return named("integer");
    case FieldType::Tag::Float:
      return named("number");
    case FieldType::Tag::Bool:
      return named("boolean");
    case FieldType::Tag::Date:
      return Value::dict({{"format", "date"}, {"type", "string"}});
    case FieldType::Tag::Datetime:
      return Value::dict({{"format", "date-time"}, {"type", "string"}});
    case FieldType::Tag::Literal:
      if (type.literals.size() == 1)
        return Value::dict({{"const", type.literals[0]}, {"type", "string"}});
      return Value::dict({{"enum", texts(type.literals)}, {"type", "string"}});
    case FieldType::Tag::Enum:
      define(*type.enum_class);
      return reference(type.enum_class->name);
    case FieldType::Tag::List:
      return Value::dict({{"items", of(type.of[0])}, {"type", "array"}});
    case FieldType::Tag::Dict: {
      const bool free = type.of[1].tag == FieldType::Tag::Any;
      return Value::dict(
          {{"additionalProperties", free ? Value(true) : of(type.of[1])}, {"type", "object"}});
    }
    case FieldType::Tag::Optional:
      return Value::dict({{"anyOf", Value::list({of(type.of[0]), named("null")})}});
    case FieldType::Tag::Union:
      return Value::dict({{"anyOf", all_of(type.of)}});
    case FieldType::Tag::Model:
      define(*type.model_class);
      return reference(type.model_class->name);
  }
  return Value::dict();
}

// The schema of a field or parameter: its type, title, default and description.
Value property(SchemaWriter& writer, const std::string& name, const FieldType& type,
               const std::optional<Value>& fallback, const std::string& description) {
  Value schema = writer.of(type);
  if (fallback) schema.set("default", dumped(*fallback));
  if (!description.empty()) schema.set("description", description);
  if (!schema.find("$ref")) schema.set("title", title_of(name));
  return schema;
}

void SchemaWriter::define(const EnumClass& enum_class) {
  if (definitions.find(enum_class.name)) return;
  std::vector<Value> values;
  for (const EnumMember& member : enum_class.members) values.emplace_back(member.value);
  definitions.set(enum_class.name, Value::dict({{"enum", Value::list(std::move(values))},
                                                {"title", enum_class.name},
                                                {"type", "string"}}));
}

void SchemaWriter::define(const ModelClass& model_class) {
  if (definitions.find(model_class.name)) return;
  definitions.set(model_class.name, Value());  // a class that refers to itself ends here
  Value properties = Value::dict();
  std::vector<Value> required;
  for (const Field& field : model_class.fields) {
    properties.set(field.name, property(*this, field.name, field.type, field.fallback, ""));
    if (!field.fallback) required.emplace_back(field.name);
  }
  Value schema = Value::dict();
  if (model_class.extra == ExtraFields::Forbidden) schema.set("additionalProperties", false);
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", Value::list(std::move(required)));
  schema.set("title", model_class.name);
  schema.set("type", "object");
  definitions.set(model_class.name, std::move(schema));
}

}  // namespace

Value tool_schema(const Tool& tool) {
  SchemaWriter writer;
  Value properties = Value::dict();
  std::vector<Value> required;
  for (const Parameter& parameter : tool.parameters) {
    properties.set(parameter.name, property(writer, parameter.name, parameter.type,
                                            parameter.fallback, parameter.description));
    if (!parameter.fallback) required.emplace_back(parameter.name);
  }
  Value parameters = Value::dict();
  if (writer.definitions.size()) parameters.set("$defs", writer.definitions);
  parameters.set("properties", std::move(properties));
  if (!required.empty()) parameters.set("required", Value::list(std::move(required)));
  parameters.set("title", "parameters");
  parameters.set("type", "object");
  return Value::dict({{"type", "function"},
                      {"function", Value::dict({{"name", tool.name},
                                                {"description", tool.description},
                                                {"parameters", std::move(parameters)}})},
                      {"tool_type", Value(to_string(tool.type))},
                      {"mutates_state", tool.mutates_state}});
}

}  // namespace unmask

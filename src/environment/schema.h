// The classes that a domain's state is made of, as tables, and the checking that pydantic does when
// one is built from plain values.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environment/value.h"

namespace unmask {

struct EnumClass {
  // values: NAME, value pairs in the order of the class.
  EnumClass(std::string class_name, std::vector<std::pair<std::string, std::string>> members);

  std::string name;
  std::vector<EnumMember> members;

  const EnumMember* find_value(std::string_view value) const;
  // The member called NAME; it must exist.
  Value operator()(std::string_view member_name) const;
};

// The annotation of a field or parameter.
struct FieldType {
  enum class Tag {
    Any,
    Str,
    Int,
    Float,
    Bool,
    Literal,
    Enum,
    List,
    Dict,
    Optional,
    Model,
    Union,
    Date,
    Datetime
  };
  Tag tag = Tag::Any;
  std::vector<std::string> literals;        // Literal
  const EnumClass* enum_class = nullptr;    // Enum
  const ModelClass* model_class = nullptr;  // Model
  // List: {item}; Dict: {key, value}; Optional: {inner}; Union: the choices, tried in order.
  std::vector<FieldType> of;
};

// Spelled as the annotation reads: type::list(type::str()).
namespace type {
FieldType any();
FieldType str();
FieldType integer();
FieldType number();
FieldType boolean();
FieldType date();
FieldType datetime();
FieldType literal(std::vector<std::string> values);
FieldType enumeration(const EnumClass& enum_class);
FieldType list(FieldType item);
FieldType dict(FieldType key, FieldType value);
FieldType dict();  // without annotations: any value
FieldType optional(FieldType inner);
FieldType model(const ModelClass& model_class);
FieldType one_of(std::vector<FieldType> choices);
}  // namespace type

struct Field {
  std::string name;
  FieldType type;
  std::optional<Value> fallback;  // what an absent field gets; nullopt: required
};

enum class ExtraFields { Ignored, Forbidden };

// A class of models. Make one as a function-local static: instances point to it for ever.
struct ModelClass {
  ModelClass(std::string class_name, std::vector<Field> class_fields,
             ExtraFields extra_fields = ExtraFields::Ignored);

  std::string name;
  std::vector<Field> fields;
  ExtraFields extra;
  detail::KeysNode* keys;  // shared by all instances
};

// An instance of `model_class` from a dict (model_validate), converting as pydantic's lax mode
// does: "5" becomes 5 for an int field, 5 becomes 5.0 for a float field; an instance of the class
// passes as it is. Errors   throws PythonError (python.h) with pydantic 2.12's text, one paragraph
// a finding.
Value validated(const ModelClass& model_class, const Value& input);

// validated() of keyword arguments: Task(title=..., ...).
Value construct(const ModelClass& model_class, std::vector<std::pair<std::string, Value>> fields);

// validated(dump of `model` merged with `changes`): nested dicts are merged, other values replaced
// (addict's update, upstream's update_db).
Value updated(const Value& model, const Value& changes);

// Plain dicts and lists in place of models, at every depth (model_dump). Enums and dates stay.
Value dumped(const Value& value);

}  // namespace unmask

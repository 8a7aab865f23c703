#include "environment/schema.h"

#include "base/check.h"
#include "environment/python.h"

namespace unmask {

EnumClass::EnumClass(std::string class_name, std::vector<std::pair<std::string, std::string>> pairs)
    : name(std::move(class_name)) {
  for (std::pair<std::string, std::string>& pair : pairs)
    members.push_back({std::move(pair.first), std::move(pair.second), name});
}

const EnumMember* EnumClass::find_value(std::string_view value) const {
  for (const EnumMember& member : members)
    if (member.value == value) return &member;
  return nullptr;
}

Value EnumClass::operator()(std::string_view member_name) const {
  for (const EnumMember& member : members)
    if (member.name == member_name) return Value(member);
  const bool class_has_the_member = false;
  UNMASK_CHECK(class_has_the_member);
  return Value();
}

ModelClass::ModelClass(std::string class_name, std::vector<Field> class_fields,
                       ExtraFields extra_fields)
    : name(std::move(class_name)),
      fields(std::move(class_fields)),
      extra(extra_fields),
      keys(new detail::KeysNode) {
  for (const Field& field : fields) keys->keys.append(field.name);
}

namespace type {

namespace {

FieldType tagged(FieldType::Tag tag, std::vector<FieldType> of = {}) {
  FieldType type;
  type.tag = tag;
  type.of = std::move(of);
  return type;
}

}  // namespace

using Tag = FieldType::Tag;

FieldType any() {
  return tagged(Tag::Any);
}
FieldType str() {
  return tagged(Tag::Str);
}
FieldType integer() {
  return tagged(Tag::Int);
}
FieldType number() {
  return tagged(Tag::Float);
}
FieldType boolean() {
  return tagged(Tag::Bool);
}
FieldType date() {
  return tagged(Tag::Date);
}
FieldType datetime() {
  return tagged(Tag::Datetime);
}
FieldType list(FieldType item) {
  return tagged(Tag::List, {std::move(item)});
}
FieldType dict() {
  return tagged(Tag::Dict, {any(), any()});
}
FieldType optional(FieldType inner) {
  return tagged(Tag::Optional, {std::move(inner)});
}
FieldType one_of(std::vector<FieldType> choices) {
  return tagged(Tag::Union, std::move(choices));
}

FieldType dict(FieldType key, FieldType value) {
  return tagged(Tag::Dict, {std::move(key), std::move(value)});
}

FieldType literal(std::vector<std::string> values) {
  FieldType type = tagged(Tag::Literal);
  type.literals = std::move(values);
  return type;
}

FieldType enumeration(const EnumClass& enum_class) {
  FieldType type = tagged(Tag::Enum);
  type.enum_class = &enum_class;
  return type;
}

FieldType model(const ModelClass& model_class) {
  FieldType type = tagged(Tag::Model);
  type.model_class = &model_class;
  return type;
}

}  // namespace type

Value dumped(const Value& value) {
  if (value.is_list()) {
    std::vector<Value> items;
    items.reserve(value.size());
    for (const Value& item : value.items()) items.push_back(dumped(item));
    return Value::list(std::move(items));
  }
  if (!value.is_dict() && !value.is_model()) return value;
  Value dict = Value::dict();
  for (std::size_t i = 0; i < value.size(); ++i) dict.set(value.key(i), dumped(value[i]));
  return dict;
}

namespace {

void merge(Value& target, const Value& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Value* old = target.find(changes.key(i));
    if (old && old->is_dict() && changes[i].is_dict())
      merge(target.edit(changes.key(i)), changes[i]);
    else
      target.set(changes.key(i), changes[i]);
  }
}

}  // namespace

Value updated(const Value& model, const Value& changes) {
  Value plain = dumped(model);
  if (changes.is_dict()) merge(plain, changes);
  return validated(model.model_class(), plain);
}

Value construct(const ModelClass& model_class, std::vector<std::pair<std::string, Value>> fields) {
  return validated(model_class, Value::dict(std::move(fields)));
}

}  // namespace unmask

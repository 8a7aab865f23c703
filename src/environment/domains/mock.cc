#include "environment/domains/mock.h"
#include "environment/data_folder.h"
#include "environment/python.h"
#include "environment/schema.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

using python::attribute;
using python::str;

const ModelClass& task_class() {
  static const ModelClass kClass("Task", {{"task_id", type::str(), {}},
                                          {"title", type::str(), {}},
                                          {"description", type::optional(type::str()), Value()},
                                          {"status", type::literal({"pending", "completed"}), {}}});
  return kClass;
}

const ModelClass& user_class() {
  static const ModelClass kClass("User", {{"user_id", type::str(), {}},
                                          {"name", type::str(), {}},
                                          {"tasks", type::list(type::str()), {}}});
  return kClass;
}

const ModelClass& database_class() {
  static const ModelClass kClass(
      "MockDB",
      {{"tasks", type::dict(type::str(), type::model(task_class())), {}},
       {"users", type::dict(type::str(), type::model(user_class())), {}}},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& notification_class() {
  static const ModelClass kClass("Notification",
                                 {{"notification_id", type::str(), {}},
                                  {"message", type::str(), {}},
                                  {"status", type::literal({"unread", "read"}), Value("unread")},
                                  {"task_id", type::optional(type::str()), Value()}},
                                 ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& user_database_class() {
  static const ModelClass kClass(
      "MockUserDB",
      {{"notifications", type::dict(type::str(), type::model(notification_class())),
        Value::dict()}},
      ExtraFields::Forbidden);
  return kClass;
}

// The entry of a table of the database, or "<noun> <id> not found".
const Value& entry(const Value& db, std::string_view table, std::string_view noun,
                   const Value& id) {
  const Value* found = python::lookup(attribute(db, table), id);
  if (!found) throw PythonError(std::string(noun) + " " + str(id) + " not found");
  return *found;
}

Value create_task(ToolScope& self, Arguments arguments) {
  const Value& user_id = arguments[0];
  entry(self.db, "users", "User", user_id);
  const std::string task_id = "task_" + std::to_string(attribute(self.db, "tasks").size() + 1);
  Value task = construct(task_class(), {{"task_id", task_id},
                                        {"title", arguments[1]},
                                        {"description", arguments[2]},
                                        {"status", "pending"}});
  self.db.edit("tasks").set(task_id, task);
  self.db.edit("users").edit(user_id.as_str()).edit("tasks").append(task_id);
  return task;
}

Value get_users(ToolScope& self, Arguments) {
  const std::span<const Value> users = attribute(self.db, "users").items();
  return Value::list({users.begin(), users.end()});
}

Value update_task_status(ToolScope& self, Arguments arguments) {
  const Value& task_id = arguments[0];
  entry(self.db, "tasks", "Task", task_id);
  Value& task = self.db.edit("tasks").edit(task_id.as_str());
  task.set("status", arguments[1]);
  return task;
}

Value transfer_to_human_agents(ToolScope&, Arguments) {
  return "Transfer successful";
}

Value assert_number_of_tasks(ToolScope& self, Arguments arguments) {
  const Value& user = entry(self.db, "users", "User", arguments[0]);
  return python::equal(Value(python::length(attribute(user, "tasks"))), arguments[1]);
}

Value assert_task_status(ToolScope& self, Arguments arguments) {
  const Value& task = entry(self.db, "tasks", "Task", arguments[0]);
  return python::equal(attribute(task, "status"), arguments[1]);
}

Value check_notifications(ToolScope& self, Arguments) {
  const std::span<const Value> all = attribute(self.db, "notifications").items();
  return Value::list({all.begin(), all.end()});
}

Value dismiss_notification(ToolScope& self, Arguments arguments) {
  const Value& id = arguments[0];
  entry(self.db, "notifications", "Notification", id);
  self.db.edit("notifications").edit(id.as_str()).set("status", "read");
  return "Notification " + str(id) + " dismissed";
}

Value add_notification(ToolScope& self, Arguments arguments) {
  Value notification = construct(
      notification_class(),
      {{"notification_id", arguments[0]}, {"message", arguments[1]}, {"task_id", arguments[2]}});
  python::edit_attribute(self.db, "notifications").set(arguments[0].as_str(), notification);
  return notification;
}

Value assert_notification_status(ToolScope& self, Arguments arguments) {
  const Value& notification = entry(self.db, "notifications", "Notification", arguments[0]);
  return python::equal(attribute(notification, "status"), arguments[1]);
}

}  // namespace

const Toolkit& mock_tools() {
  static const FieldType kStatus = type::literal({"pending", "completed"});
  static const Toolkit kTools{
      "MockTools",
      {{"create_task",
        "Adds a task to a user's list.",
        ToolType::Write,
        true,
        {{"user_id", type::str(), {}, "Whose list it goes on."},
         {"title", type::str(), {}, "What the task is called."},
         {"description", type::str(), Value(), "More about it, if anything."}},
        create_task},
       {"get_users",
        "Lists every user with the ids of their tasks.",
        ToolType::Read,
        false,
        {},
        get_users},
       {"update_task_status",
        "Marks a task as pending or completed.",
        ToolType::Write,
        true,
        {{"task_id", type::str(), {}, "Which task."}, {"status", kStatus, {}, "Its new status."}},
        update_task_status},
       {"transfer_to_human_agents",
        "Hands the user over to a human, with a summary. Only where the user asks for a human, or "
        "policy and tools cannot solve the problem.",
        ToolType::Generic,
        false,
        {{"summary", type::str(), {}, "What the user needs, in short."}},
        transfer_to_human_agents}},
      {{"assert_number_of_tasks",
        "",
        ToolType::Read,
        false,
        {{"user_id", type::str(), {}, ""}, {"expected_number", type::integer(), {}, ""}},
        assert_number_of_tasks},
       {"assert_task_status",
        "",
        ToolType::Read,
        false,
        {{"task_id", type::str(), {}, ""}, {"expected_status", kStatus, {}, ""}},
        assert_task_status}}};
  return kTools;
}

const Toolkit* mock_user_tools() {
  static const Toolkit kTools{
      "MockUserTools",
      {{"check_notifications",
        "Lists what is in the inbox.",
        ToolType::Read,
        false,
        {},
        check_notifications},
       {"dismiss_notification",
        "Marks a notification as read.",
        ToolType::Write,
        true,
        {{"notification_id", type::str(), {}, "Which notification."}},
        dismiss_notification}},
      {{"add_notification",
        "",
        ToolType::Write,
        true,
        {{"notification_id", type::str(), {}, ""},
         {"message", type::str(), {}, ""},
         {"task_id", type::optional(type::str()), Value(), ""}},
        add_notification},
       {"assert_notification_status",
        "",
        ToolType::Read,
        false,
        {{"notification_id", type::str(), {}, ""}, {"expected_status", type::str(), {}, ""}},
        assert_notification_status}}};
  return &kTools;
}

Result<Databases> mock_databases(const DataFolder& data) {
  const std::string agent_file = "domains/mock/db.json";
  const std::string user_file = "domains/mock/user_db.json";
  Result<Value> agent = data.json(agent_file);
  if (!agent) return agent.error();
  Result<Value> user = data.json(user_file);
  if (!user) return user.error();
  agent = checked_database(database_class(), *agent, data.path(agent_file));
  if (!agent) return agent.error();
  user = checked_database(user_database_class(), *user, data.path(user_file));
  if (!user) return user.error();
  return Databases{std::move(*agent), std::move(*user)};
}

Result<std::string> mock_policy(const DataFolder& data, bool solo) {
  return data.text(solo ? "domains/mock/policy_solo.md" : "domains/mock/policy.md");
}

}  // namespace unmask

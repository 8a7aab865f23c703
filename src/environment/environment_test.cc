#include "environment/environment.h"

#include <gtest/gtest.h>

#include "environment/json.h"

namespace unmask {
namespace {

std::shared_ptr<const Domain> load(const std::string& folder, std::string_view name) {
  const Result<DataFolder> data = DataFolder::open(folder);
  EXPECT_TRUE(data) << to_string(data.error());
  if (!data) return nullptr;
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  EXPECT_TRUE(domain) << to_string(domain.error());
  return domain ? *domain : nullptr;
}

std::shared_ptr<const Domain> small(std::string_view name) {
  return load(UNMASK_TEST_DATA "/environment/tau2", name);
}

Environment started(std::string_view name, bool solo = false) {
  Result<Environment> environment = Environment::start(small(name), solo);
  EXPECT_TRUE(environment) << to_string(environment.error());
  return std::move(*environment);
}

std::string ask(Environment& environment, const std::string& name, std::string_view arguments,
                Side side = Side::Agent) {
  return environment.respond({"", name, *parse_json(arguments), side}).content;
}

TEST(Environment, AnswersInTheOrderOfUpstreamsChecks) {
  Environment mock = started("mock");
  EXPECT_EQ(
      ask(mock, "nothing", R"({"tool_name": 1, "self": 1, "requestor": 1})"),
      "Error: tau2.environment.environment.Environment.make_tool_call() got multiple values for "
      "keyword argument 'requestor'");
  EXPECT_EQ(ask(mock, "nothing", R"({"tool_name": 1, "self": 1})"),
            "Error: Environment.make_tool_call() got multiple values for argument 'tool_name'");
  EXPECT_EQ(ask(mock, "nothing", R"({"x": 1})"), "Error: Tool 'nothing' not found.");
  EXPECT_EQ(ask(mock, "add_notification", "{}", Side::User),
            "Error: Tool 'add_notification' not found.")
      << "functions for set-up are not offered";
  Environment retail = started("retail");
  EXPECT_EQ(ask(retail, "nothing", "{}", Side::User), "Error: User tools not available");
}

TEST(Environment, SoloModeLendsTheUsersToolsToTheAgent) {
  Environment mock = started("mock", true);
  EXPECT_EQ(ask(mock, "dismiss_notification", R"({"notification_id": "n1"})"),
            "Notification n1 dismissed");
  EXPECT_EQ(ask(mock, "dismiss_notification", "{}", Side::User),
            "Error: User tool calls are not allowed in solo mode");
  EXPECT_EQ(mock.policy(), "Do what the ticket asks.\n");
  const Result<Environment> retail = Environment::start(small("retail"), true);
  ASSERT_FALSE(retail);
  EXPECT_EQ(retail.error().message, "domain retail has no solo mode");
}

TEST(Environment, EpisodesOfOneDomainDoNotSeeEachOther) {
  const std::shared_ptr<const Domain> domain = small("mock");
  Environment first = *Environment::start(domain);
  const std::string untouched = first.agent_hash();
  ask(first, "create_task", R"({"user_id": "ana", "title": "x"})");
  EXPECT_NE(first.agent_hash(), untouched);
  EXPECT_EQ(Environment::start(domain)->agent_hash(), untouched);
}

TEST(Environment, InitializationDataMakesBothSidesShareOneDatabase) {
  Environment mock = started("mock");
  InitialState initial;
  initial.agent_data = *parse_json(R"({"tasks": {"task_1": {"status": "completed"}}})");
  ASSERT_TRUE(mock.set_state(initial, {}));
  EXPECT_EQ(mock.agent_hash(), mock.user_hash());
  EXPECT_EQ(ask(mock, "check_notifications", "{}", Side::User),
            "Error: 'MockDB' object has no attribute 'notifications'");
}

std::vector<ReplayMessage> history(std::string_view json) {
  const Result<std::vector<ReplayMessage>> messages = replay_messages(*parse_json(json));
  EXPECT_TRUE(messages) << to_string(messages.error());
  return *messages;
}

std::string replay_error(std::string_view json, bool strict = true) {
  Environment mock = started("mock");
  const Result<Done> done = mock.set_state({}, history(json), strict);
  return done ? "" : to_string(done.error());
}

constexpr char kCall[] =
    R"({"role": "assistant", "tool_calls": [{"id": "c", "name": "update_task_status",
        "arguments": {"task_id": "task_1", "status": "completed"}}]})";
constexpr char kReply[] =
    R"({"role": "tool", "id": "c", "turn_idx": 4, "content": "{\"status\": \"completed\", )"
    R"(\"task_id\": \"task_1\", \"title\": \"Water the plants\", \"description\": null}"})";

std::string listed(std::initializer_list<std::string> messages) {
  std::string out;
  for (const std::string& each : messages) out += (out.empty() ? "[" : ", ") + each;
  return out + "]";
}

TEST(SetState, ReplaysCallsWhoseRepliesAreEqualAsJson) {
  Environment mock = started("mock");
  const std::string before = mock.agent_hash();
  ASSERT_TRUE(mock.set_state({}, history(listed({kCall, kReply}))));
  EXPECT_NE(mock.agent_hash(), before);
}

TEST(SetState, SkipsUnknownToolsAndThoseThatChangeNothing) {
  EXPECT_EQ(
      replay_error(
          R"([{"role": "assistant", "tool_calls": [{"id": "1", "name": "fly", "arguments": {}},
                              {"id": "2", "name": "get_users", "arguments": {}}]},
                             {"role": "tool", "id": "1", "content": "?"}, {"role": "tool", "id": "2", "content": "?"}])"),
      "");
}

TEST(SetState, RefusesADifferentReplyUnlessLenient) {
  const std::string text =
      listed({kCall, R"({"role": "tool", "id": "c", "turn_idx": 4, "content": "no"})"});
  EXPECT_EQ(
      replay_error(text),
      "ValueError: Tool call:\nToolCall (from assistant)\nid: c\nname: update_task_status\n"
      "arguments:\n{\n  \"task_id\": \"task_1\",\n  \"status\": \"completed\"\n}\n\nReturned:\n"
      "ToolMessage (responding to assistant)\ncontent: {\"task_id\": \"task_1\", \"title\": "
      "\"Water the plants\", \"description\": null, \"status\": \"completed\"}\n\nExpected:\n"
      "ToolMessage (responding to assistant)\nturn_idx: 4\ncontent: no");
  Environment mock = started("mock");
  ASSERT_TRUE(mock.set_state({}, history(text), false));
  EXPECT_EQ(mock.differing_replies(), 1);
}

TEST(SetState, RefusesTrajectoriesThatDoNotFitTogether) {
  EXPECT_EQ(
      replay_error(listed({kReply})),
      "ValueError: Tool message not expected. Tool messages should always follow a tool call.");
  EXPECT_EQ(replay_error(listed({kCall})), "ValueError: Tool message expected. Got None.");
  EXPECT_EQ(replay_error(listed({kCall, R"({"role": "user", "content": "x"})"})),
            "ValueError: Tool message expected. Got <class 'tau2.data_model.message.UserMessage'>");
  EXPECT_EQ(replay_error(listed({kCall, R"({"role": "tool", "id": "d", "content": "x"})"})),
            "ValueError: Tool call id mismatch. Got c and d");
}

TEST(RunFunction, NamesWhatATaskAsksForInVain) {
  Environment mock = started("mock");
  const Result<Value> result = mock.run_function({Side::User, "fly", Value::dict()});
  ASSERT_FALSE(result);
  EXPECT_EQ(to_string(result.error()),
            "AttributeError: 'MockUserTools' object has no attribute 'fly'");
  Environment retail = started("retail");
  EXPECT_EQ(to_string(retail.run_function({Side::User, "fly", Value::dict()}).error()),
            "AttributeError: 'NoneType' object has no attribute 'fly'");
}

TEST(Retail, GivesEveryReplacedItemThePriceOfTheLastOne) {
  Environment retail = started("retail");
  EXPECT_EQ(
      ask(retail, "modify_pending_order_items",
          R"({"order_id": "#W1", "item_ids": ["i1"], "new_item_ids": ["i3"], "payment_method_id": "gift_card_1"})"),
      "Error: New item i3 not found or available");
  const std::string order = ask(
      retail, "modify_pending_order_items",
      R"({"order_id": "#W1", "item_ids": ["i1"], "new_item_ids": ["i2"], "payment_method_id": "gift_card_1"})");
  EXPECT_NE(order.find(R"("price": 12.34, "options": {"color": "blue"})"), std::string::npos)
      << order;
  EXPECT_NE(order.find(R"("amount": 2.34)"), std::string::npos) << order;
  EXPECT_NE(ask(retail, "get_user_details", R"({"user_id": "ana_1"})").find(R"("balance": 17.66)"),
            std::string::npos);
}

TEST(Retail, FindsNamesWhateverTheirCase) {
  Environment retail = started("retail");
  EXPECT_EQ(ask(retail, "find_user_id_by_name_zip",
                R"({"first_name": "ANA", "last_name": "\u00dcNAL", "zip": "89073"})"),
            "ana_1");
}

TEST(Airline, ACertificateNamedTwiceFailsAfterItWasTaken) {
  Environment airline = started("airline");
  const std::string before = airline.agent_hash();
  EXPECT_EQ(
      ask(airline, "book_reservation",
          R"({"user_id": "bo_2", "origin": "SFO", "destination": "JFK", "flight_type": "one_way", "cabin": "economy",
                    "flights": [{"flight_number": "HAT001", "date": "2024-05-09"}],
                    "passengers": [{"first_name": "Bo", "last_name": "Li", "dob": "1990-01-02"}],
                    "payment_methods": [{"payment_id": "certificate_2", "amount": 50}, {"payment_id": "certificate_2", "amount": 50}],
                    "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no"})"),
      "Error: 'certificate_2'");
  EXPECT_NE(airline.agent_hash(), before) << "the certificate is gone all the same";
}

TEST(Airline, AnArrivalOnTheNextDayLooksForThatDayWithoutAZero) {
  Environment airline = started("airline");
  const std::string found = ask(airline, "search_onestop_flight",
                                R"({"origin": "SFO", "destination": "BOS", "date": "2024-05-09"})");
  EXPECT_NE(found.find("[[{\"flight_number\": \"HAT001\""), std::string::npos) << found;
  EXPECT_NE(found.find("\"date\": \"2024-05-10\""), std::string::npos);
}

}  // namespace
}  // namespace unmask

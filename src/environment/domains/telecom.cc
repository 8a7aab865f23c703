// telecom as a whole: its files, its policies, and how the two sides affect one another.
#include "environment/domains/telecom.h"

#include "environment/data_folder.h"
#include "environment/domains/telecom_phone.h"
#include "environment/domains/telecom_phone_state.h"
#include "environment/domains/telecom_state.h"
#include "environment/python.h"

namespace unmask {

namespace {

using namespace telecom;
using python::attribute;

Result<Value> database(const DataFolder& data, const std::string& file, const ModelClass& kind) {
  const Result<Value> toml = data.toml(file);
  if (!toml) return toml.error();
  return checked_database(kind, *toml, data.path(file));
}

Result<std::string> policy(const DataFolder& data, const char* main, const char* support) {
  const std::string folder = "domains/telecom/";
  const Result<std::string> main_text = data.text(folder + main);
  if (!main_text) return main_text.error();
  const Result<std::string> support_text = data.text(folder + support);
  if (!support_text) return support_text.error();
  return "<main_policy>\n" + *main_text + "\n</main_policy>\n<tech_support_policy>\n" +
         *support_text + "\n</tech_support_policy>";
}

// Leaves the database as it is where nothing changes: what is not written to stays shared.
void note(Phone& phone, std::string_view field, bool state) {
  const Value& known = phone.around(field);
  if (!known.is_bool() || known.as_bool() != state) phone.set_around(field, state);
}

// A request that was paid makes the bill paid; then the next bill that awaits payment becomes the
// request.
void sync_payment(Value& agent_db, Phone& phone, const Value& phone_number) {
  const Value request = phone.around("payment_request");
  if (!request.is_none()) {
    if (!python::truthy(attribute(request, "paid"))) return;
    edit_entry(agent_db, kBills, attribute(request, "bill_id")).set("status", bill_status("PAID"));
    phone.set_around("payment_request", Value());
  }
  const Value& customer = customer_by_phone(agent_db, phone_number);
  const Value* bill = first_bill(agent_db, customer, "Awaiting Payment", Scan::All);
  if (!bill) return;
  phone.set_around("payment_request", construct(payment_request_class(),
                                                {{"bill_id", attribute(*bill, "bill_id")},
                                                 {"amount_due", attribute(*bill, "total_due")}}));
}

}  // namespace

Result<Databases> telecom_databases(const DataFolder& data) {
  Result<Value> agent = database(data, "domains/telecom/db.toml", database_class());
  if (!agent) return agent.error();
  Result<Value> user = database(data, "domains/telecom/user_db.toml", user_database_class());
  if (!user) return user.error();
  return Databases{std::move(*agent), std::move(*user)};
}

Result<std::string> telecom_manual_policy(const DataFolder& data, bool solo) {
  return policy(data, solo ? "main_policy_solo.md" : "main_policy.md", "tech_support_manual.md");
}

Result<std::string> telecom_workflow_policy(const DataFolder& data, bool solo) {
  return solo ? policy(data, "main_policy_solo.md", "tech_support_workflow_solo.md")
              : policy(data, "main_policy.md", "tech_support_workflow.md");
}

void telecom_sync(World& world) {
  Phone phone(world.user_db());
  Value& db = world.agent_db();
  const Value phone_number = phone.around("phone_number");
  if (phone_number.is_none()) return;
  const Value& line = entry(db, kLinesByPhone, phone_number);
  note(phone, "line_active", has_status(line, "Active"));
  note(phone, "roaming_allowed", python::truthy(attribute(line, "roaming_enabled")));
  const Value& plan = entry(db, kPlans, attribute(line, "plan_id"));
  const Value limit =
      python::add(attribute(plan, "data_limit_gb"), attribute(line, "data_refueling_gb"));
  note(phone, "mobile_data_usage_exceeded",
       python::greater_equal(attribute(line, "data_used_gb"), limit));
  sync_payment(db, phone, phone_number);
}

}  // namespace unmask

#include "environment/domain.h"

#include "environment/domains/airline.h"
#include "environment/domains/mock.h"
#include "environment/domains/pocket.h"
#include "environment/domains/retail.h"
#include "environment/domains/telecom.h"

namespace unmask {

namespace {

constexpr DomainRow kRows[] = {
    {"mock", "mock", "", true, mock_tools, mock_user_tools, mock_databases, mock_policy, nullptr},
    {"retail", "retail", "base", false, retail_tools, nullptr, retail_databases, retail_policy,
     nullptr},
    {"airline", "airline", "base", false, airline_tools, nullptr, airline_databases, airline_policy,
     nullptr},
    {"telecom", "telecom", "base", true, telecom_tools, telecom_user_tools, telecom_databases,
     telecom_manual_policy, telecom_sync},
    {"telecom-workflow", "telecom", "base", true, telecom_tools, telecom_user_tools,
     telecom_databases, telecom_workflow_policy, telecom_sync},
    {"pocket_telecom", "", "base", false, pocket_telecom_tools, pocket_telecom_user_tools,
     pocket_telecom_databases, pocket_telecom_policy, pocket_telecom_sync, &kPocketWorlds},
    {"pocket_retail", "", "base", false, pocket_retail_tools, nullptr, pocket_retail_databases,
     pocket_retail_policy, nullptr, &kPocketWorlds},
};

}  // namespace

std::span<const DomainRow> domain_rows() {
  return kRows;
}

const DomainRow* find_domain(std::string_view name) {
  for (const DomainRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

Result<std::shared_ptr<const Domain>> load_domain(const DataFolder& data, std::string_view name) {
  const DomainRow* row = find_domain(name);
  if (!row) {
    std::string known;
    for (const DomainRow& each : kRows)
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    return Error{ErrorKind::NotFound,
                 "no domain is called '" + std::string(name) + "'; there are: " + known, ""};
  }
  auto domain = std::make_shared<Domain>();
  domain->row = row;
  domain->agent_tools = &row->agent_tools();
  domain->user_tools = row->user_tools ? row->user_tools() : nullptr;
  Result<Databases> databases = row->databases(data);
  if (!databases) return databases.error();
  domain->initial = std::move(*databases);
  Result<std::string> policy = row->policy(data, false);
  if (!policy) return policy.error();
  domain->policy = std::move(*policy);
  if (row->solo) {
    Result<std::string> solo = row->policy(data, true);
    if (!solo) return solo.error();
    domain->solo_policy = std::move(*solo);
  }
  return std::shared_ptr<const Domain>(std::move(domain));
}

Result<std::shared_ptr<const Domain>> domain_of_task(const std::shared_ptr<const Domain>& domain,
                                                     std::string_view task_id) {
  const GeneratedWorlds* generated = domain->row->generated;
  if (!generated || domain->task_id == task_id) return domain;
  return generated->world(*domain->row, task_id);
}

}  // namespace unmask

// Tool calls with any arguments, on every tool of every domain: they never crash, and the state
// stays one whose kept hash is its real hash.
//
// Input: the first byte picks the domain; then one call a line: a byte that picks the tool (its top
// bit the user's side, where there is one), then JSON. An object is the arguments; any other value
// is given to every parameter.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "environment/environment.h"
#include "environment/json.h"
#include "environment/schema.h"

namespace {

using namespace unmask;

std::vector<std::shared_ptr<const Domain>> small_domains() {
  std::vector<std::shared_ptr<const Domain>> domains;
  const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
  if (!data) std::abort();
  for (const DomainRow& row : domain_rows()) {
    if (row.generated) continue;
    Result<std::shared_ptr<const Domain>> domain = load_domain(*data, row.name);
    if (!domain) std::abort();
    domains.push_back(*domain);
  }
  return domains;
}

// The world of one task of each domain that is made by code.
std::vector<std::shared_ptr<const Domain>> pocket_domains() {
  std::vector<std::shared_ptr<const Domain>> domains;
  for (const DomainRow& row : domain_rows()) {
    if (!row.generated) continue;
    Result<std::shared_ptr<const Domain>> domain = row.generated->world(row, "t0");
    if (!domain) std::abort();
    domains.push_back(*domain);
  }
  return domains;
}

const std::shared_ptr<const Domain>& chosen_domain(std::uint8_t byte) {
  static const std::vector<std::shared_ptr<const Domain>> kDomains = small_domains();
  static const std::vector<std::shared_ptr<const Domain>> kPocket = pocket_domains();
  constexpr std::uint8_t kFirstPocket = 250;
  return byte < kFirstPocket ? kDomains[byte % kDomains.size()] : kPocket[byte % kPocket.size()];
}

Value arguments_for(const Tool& tool, const std::string& text) {
  const Result<Value> value = parse_json(text);
  if (!value) return Value::dict();
  if (value->is_dict()) return *value;
  Value arguments = Value::dict();
  for (const Parameter& parameter : tool.parameters) arguments.set(parameter.name, *value);
  return arguments;
}

void require_valid(const Environment& environment) {
  const World& world = environment.world();
  if (environment.agent_hash() != database_hash(dumped(world.agent_db()))) std::abort();
  if (environment.user_hash() && *environment.user_hash() != database_hash(dumped(world.user_db())))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  Result<Environment> environment = Environment::start(chosen_domain(bytes[0]));
  if (!environment) std::abort();
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1));
  int calls = 0;
  for (std::string line; calls < 20 && std::getline(lines, line); ++calls) {
    if (line.empty()) continue;
    const unsigned char pick = static_cast<unsigned char>(line[0]);
    const bool user = (pick & 0x80) && environment->domain().user_tools;
    const Toolkit& toolkit = *environment->domain().toolkit(user ? Side::User : Side::Agent);
    const Tool& tool = toolkit.tools[(pick & 0x7f) % toolkit.tools.size()];
    environment->respond(
        {"", tool.name, arguments_for(tool, line.substr(1)), user ? Side::User : Side::Agent});
    require_valid(*environment);
  }
  return 0;
}

// The readers of τ²-bench's data, on any bytes: JSON, TOML, tasks, surfaces, databases.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "environment/data_folder.h"
#include "environment/domains/airline_state.h"
#include "environment/domains/retail_state.h"
#include "environment/environment.h"
#include "environment/json.h"
#include "environment/surface.h"
#include "environment/task.h"

namespace {

std::shared_ptr<const unmask::Domain> mock() {
  using namespace unmask;
  const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
  if (!data) std::abort();
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, "mock");
  if (!domain) std::abort();
  return *domain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace unmask;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  (void)parse_toml(text);
  const Result<Value> value = parse_json(text);
  if (!value) return 0;
  // What was read is written and read again without a change.
  const std::string written = dump_json(*value);
  const Result<Value> again = parse_json(written);
  if (!again || dump_json(*again) != written) std::abort();
  static const std::shared_ptr<const Domain> kMock = mock();
  (void)surface_of(*value, "fuzz", *kMock);
  (void)read_task(*value);
  (void)replay_messages(*value);
  (void)checked_database(retail::database_class(), *value, "fuzz");
  (void)checked_database(airline::database_class(), *value, "fuzz");
  return 0;
}

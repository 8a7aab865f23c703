#include "environment/domains/pocket.h"

#include "base/check.h"
#include "environment/pocket/scene.h"
#include "environment/pocket/telecom.h"

namespace unmask {

namespace {

constexpr std::uint64_t kEvaluationTasks = 114;

const pocket::PocketWorld& world_of(const DomainRow& row) {
  const pocket::PocketWorld* world = pocket::find_world(row.name);
  UNMASK_CHECK(world != nullptr);
  return *world;
}

Result<pocket::TaskNumber> number_of(const DomainRow& row, std::string_view id) {
  if (const std::optional<pocket::TaskNumber> number = pocket::task_number(id)) return *number;
  return Error{ErrorKind::NotFound,
               std::string(row.name) + " has no task '" + std::string(id) +
                   "'; its tasks are t0, t1, ... and, for training, train0, train1, ...",
               ""};
}

std::vector<Task> base_tasks(const DomainRow& row) {
  std::vector<Task> tasks;
  for (std::uint64_t i = 0; i < kEvaluationTasks; ++i)
    tasks.push_back(pocket::task_of(world_of(row), {false, i}));
  return tasks;
}

Result<Task> task_named(const DomainRow& row, std::string_view id) {
  const Result<pocket::TaskNumber> number = number_of(row, id);
  if (!number) return number.error();
  return pocket::task_of(world_of(row), *number);
}

Result<std::shared_ptr<const Domain>> world_of_task(const DomainRow& row, std::string_view id) {
  const Result<pocket::TaskNumber> number = number_of(row, id);
  if (!number) return number.error();
  const pocket::PocketWorld& world = world_of(row);
  pocket::Scene scene = pocket::scene_of(world, *number);
  auto domain = std::make_shared<Domain>();
  domain->row = &row;
  domain->task_id = std::string(id);
  domain->own_tools[0] = std::make_shared<Toolkit>(pocket::toolkit_of(world, scene, Side::Agent));
  domain->agent_tools = domain->own_tools[0].get();
  if (row.user_tools) {
    domain->own_tools[1] = std::make_shared<Toolkit>(pocket::toolkit_of(world, scene, Side::User));
    domain->user_tools = domain->own_tools[1].get();
  }
  domain->initial.agent = std::move(scene.database);
  domain->policy = pocket::policy_of(world, scene);
  return std::shared_ptr<const Domain>(std::move(domain));
}

// Every topic that a side may own, under its usual name.
Toolkit usual_tools(const pocket::PocketWorld& world, Side side, std::size_t first,
                    std::size_t end) {
  pocket::Scene scene;
  for (std::size_t topic = first; topic < end; ++topic)
    scene.tools.push_back({topic, side, pocket::usual_name(world.topics[topic])});
  return pocket::toolkit_of(world, scene, side);
}

}  // namespace

const GeneratedWorlds kPocketWorlds = {
    base_tasks, task_named, world_of_task,
    "You play a customer and write as few words as you can. First say who you are and what you "
    "want. When the agent writes 'ask' and the name of a tool of yours, call it and repeat what it "
    "shows; if you have no such tool, say so. When the agent says 'done', answer ###STOP###."};

const Toolkit& pocket_telecom_tools() {
  static const Toolkit kTools = [] {
    const pocket::PocketWorld& world = pocket::telecom();
    Toolkit tools = usual_tools(world, Side::Agent, 0, world.topics.size());
    std::erase_if(tools.tools, [&](const Tool& tool) {
      return tool.name == pocket::usual_name(world.topics[pocket::telecom_world::Wallet]);
    });
    return tools;
  }();
  return kTools;
}

const Toolkit* pocket_telecom_user_tools() {
  static const Toolkit kTools =
      usual_tools(pocket::telecom(), Side::User, pocket::telecom_world::Wallet,
                  pocket::telecom().topics.size());
  return &kTools;
}

const Toolkit& pocket_retail_tools() {
  static const Toolkit kTools =
      usual_tools(pocket::retail(), Side::Agent, 0, pocket::retail().topics.size());
  return kTools;
}

Result<Databases> pocket_telecom_databases(const DataFolder&) {
  return Databases{pocket::scene_of(pocket::telecom(), {false, 0}).database, Value()};
}

Result<Databases> pocket_retail_databases(const DataFolder&) {
  return Databases{pocket::scene_of(pocket::retail(), {false, 0}).database, Value()};
}

Result<std::string> pocket_telecom_policy(const DataFolder&, bool) {
  return std::string(pocket::telecom().sentence);
}

Result<std::string> pocket_retail_policy(const DataFolder&, bool) {
  return std::string(pocket::retail().sentence);
}

void pocket_telecom_sync(World& world) {
  world.share(world.agent_db());
}

}  // namespace unmask

#include "environment/pocket/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "environment/domain.h"
#include "environment/environment.h"
#include "environment/json.h"
#include "environment/pocket/retail.h"
#include "environment/pocket/telecom.h"
#include "environment/surface.h"

namespace unmask::pocket {
namespace {

const PocketWorld* const kWorlds[] = {&telecom(), &retail()};

std::shared_ptr<const Domain> world_of(std::string_view domain, std::string_view task) {
  const Result<std::shared_ptr<const Domain>> general = load_domain(DataFolder::absent(), domain);
  EXPECT_TRUE(general) << to_string(general.error());
  const Result<std::shared_ptr<const Domain>> world = domain_of_task(*general, task);
  EXPECT_TRUE(world) << to_string(world.error());
  return *world;
}

TEST(PocketNames, AreTheUsualOnesHalfOfTheTimeAndAlwaysOfTheirKind) {
  for (const PocketWorld* world : kWorlds) {
    int usual = 0;
    int all = 0;
    for (std::uint64_t number = 0; number < 300; ++number) {
      for (const NamedTool& tool : scene_of(*world, {true, number}).tools) {
        const Topic& topic = world->topics[tool.topic];
        const std::span<const std::string_view> known = verbs(topic.changes_state);
        EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](std::string_view verb) {
          return tool_name(topic, verb) == tool.name;
        })) << tool.name;
        usual += tool.name == usual_name(topic) ? 1 : 0;
        ++all;
      }
    }
    // Four standard errors of a proportion over more than 2,000 tools.
    EXPECT_NEAR(static_cast<double>(usual) / all, 0.5, 0.045) << world->name;
  }
}

TEST(PocketNames, NoVerbIsOfBothKindsAndEveryUsualOneIsKnown) {
  for (const std::string_view verb : verbs(false))
    EXPECT_EQ(std::count(verbs(true).begin(), verbs(true).end(), verb), 0) << verb;
  for (const PocketWorld* world : kWorlds)
    for (const Topic& topic : world->topics) {
      const std::span<const std::string_view> known = verbs(topic.changes_state);
      EXPECT_EQ(std::count(known.begin(), known.end(), topic.usual), 1) << topic.noun;
    }
}

TEST(PocketTasks, TrainingAndEvaluationShareNoStructure) {
  for (const PocketWorld* world : kWorlds) {
    std::set<std::string> evaluation;
    for (std::uint64_t number = 0; number < 500; ++number)
      evaluation.insert(scene_of(*world, {false, number}).structure);
    EXPECT_GT(evaluation.size(), 50u) << world->name;
    for (std::uint64_t number = 0; number < 4000; ++number) {
      const std::string structure = scene_of(*world, {true, number}).structure;
      EXPECT_EQ(evaluation.count(structure), 0u) << world->name << " " << structure;
    }
  }
}

TEST(PocketTasks, AreTheSameWheneverTheyAreMadeAndDifferFromEachOther) {
  for (const PocketWorld* world : kWorlds) {
    std::set<std::string> seen;
    for (std::uint64_t number = 0; number < 114; ++number) {
      const std::string task = dump_json(task_of(*world, {false, number}).json) +
                               dump_json(scene_of(*world, {false, number}).database);
      EXPECT_EQ(task, dump_json(task_of(*world, {false, number}).json) +
                          dump_json(scene_of(*world, {false, number}).database));
      seen.insert(task);
    }
    EXPECT_EQ(seen.size(), 114u);
  }
}

TEST(PocketTasks, HaveIdsThatAreReadBackAndOthersAreRefused) {
  EXPECT_EQ(task_id({false, 17}), "t17");
  EXPECT_EQ(task_id({true, 17}), "train17");
  EXPECT_TRUE(task_number("train17")->training);
  EXPECT_EQ(task_number("t17")->number, 17u);
  for (const char* id : {"", "t", "t01", "t-1", "t1x", "x1", "train", "t99999999999999999999"})
    EXPECT_FALSE(task_number(id)) << id;
  const Result<std::shared_ptr<const Domain>> general =
      load_domain(DataFolder::absent(), "pocket_retail");
  const Result<std::shared_ptr<const Domain>> none = domain_of_task(*general, "one");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "pocket_retail has no task 'one'; its tasks are t0, t1, ... and, for training, train0, "
            "train1, ...");
}

TEST(PocketTasks, AreThoseOfTheBaseSplitWithoutAnyData) {
  for (const PocketWorld* world : kWorlds) {
    const DomainRow& row = *find_domain(world->name);
    const Result<std::vector<Task>> tasks = load_tasks(DataFolder::absent(), row, "test");
    ASSERT_TRUE(tasks) << to_string(tasks.error());
    EXPECT_EQ(tasks->size(), 114u);
    EXPECT_EQ(tasks->back().id, "t113");
    EXPECT_FALSE(load_tasks(DataFolder::absent(), row, "hard"));
  }
}

TEST(PocketTelecom, SharesTheDeviceBetweenTheSidesAsTheTaskHasIt) {
  int both = 0;
  for (std::uint64_t number = 0; number < 50; ++number) {
    const std::shared_ptr<const Domain> world =
        world_of("pocket_telecom", task_id({false, number}));
    const Scene scene = scene_of(telecom(), {false, number});
    EXPECT_EQ(scene.tool(telecom_world::Wallet).side, Side::User);
    EXPECT_EQ(scene.tool(telecom_world::Customer).side, Side::Agent);
    bool agent = false;
    bool user = false;
    for (const NamedTool& tool : scene.tools) {
      const Toolkit* own = world->toolkit(tool.side);
      const Toolkit* other = world->toolkit(tool.side == Side::Agent ? Side::User : Side::Agent);
      EXPECT_NE(own->find(tool.name), nullptr) << tool.name;
      EXPECT_EQ(other->find(tool.name), nullptr) << tool.name;
      const bool asked = world->policy.find(" ask " + tool.name) != std::string::npos;
      EXPECT_EQ(asked, tool.side == Side::User) << tool.name;
      if (tool.topic >= telecom_world::Signal) (tool.side == Side::Agent ? agent : user) = true;
    }
    both += agent && user ? 1 : 0;
  }
  EXPECT_GT(both, 40);
}

TEST(PocketTelecom, ShowsAModelThePolicyAlone) {
  const std::shared_ptr<const Domain> world = world_of("pocket_telecom", "t3");
  const Surface surface = own_surface(*world);
  EXPECT_EQ(filled(surface.agent_prompt, {{"domain_policy", surface.policy}}), world->policy);
  EXPECT_TRUE(world->policy.starts_with("Serve the customer. Yours are call, theirs are ask."));
}

ToolReply answer(Environment& environment, const Scene& scene, std::size_t topic,
                 std::vector<std::pair<std::string, Value>> arguments) {
  const NamedTool& tool = scene.tool(topic);
  return environment.respond({"c", tool.name, Value::dict(std::move(arguments)), tool.side});
}

TEST(PocketTelecom, WhatOneSideDoesTheOtherSees) {
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Scene scene = scene_of(telecom(), {true, number});
    const NamedTool* sim = scene.find_tool(telecom_world::Sim);
    const NamedTool* tray = scene.find_tool(telecom_world::Tray);
    const bool apart = sim && tray && sim->side != tray->side;
    if (!apart || !scene.database.find("sim")->as_bool()) continue;
    Result<Environment> environment =
        Environment::start(world_of("pocket_telecom", task_id({true, number})));
    ASSERT_TRUE(environment);
    const auto arguments = [&](const NamedTool& tool) {
      std::vector<std::pair<std::string, Value>> out;
      if (tool.side == Side::Agent) out.emplace_back("id", *scene.database.find("line"));
      return out;
    };
    EXPECT_EQ(answer(*environment, scene, telecom_world::Sim, arguments(*sim)).content,
              "sim loose");
    EXPECT_EQ(answer(*environment, scene, telecom_world::Tray, arguments(*tray)).content, "ok");
    EXPECT_EQ(answer(*environment, scene, telecom_world::Sim, arguments(*sim)).content, "sim fine");
    return;
  }
  FAIL() << "no task has a loose sim that one side reads and the other mends";
}

TEST(PocketTelecom, RefusesUnknownIdsAndWhatTheStateRulesOut) {
  const Scene scene = scene_of(telecom(), {false, 0});
  Result<Environment> environment = Environment::start(world_of("pocket_telecom", "t0"));
  ASSERT_TRUE(environment);
  EXPECT_EQ(answer(*environment, scene, telecom_world::Customer, {{"id", "P00"}}).content,
            "Error: customer P00 not found");
  EXPECT_EQ(answer(*environment, scene, telecom_world::Customer, {{"id", Value::list()}}).content,
            "Error: customer [] not found");
  const Value account = *scene.database.find("account");
  EXPECT_FALSE(answer(*environment, scene, telecom_world::Human, {{"id", account}}).error);
  EXPECT_EQ(answer(*environment, scene, telecom_world::Case, {{"id", account}}).content,
            "Error: case is closed");
}

TEST(PocketRetail, RefusesWhatDoesNotBelongTogether) {
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Scene scene = scene_of(retail(), {true, number});
    const Value& orders = *scene.database.find("orders");
    const bool pending = orders[0].find("status")->as_str() == "pending";
    if (!scene.find_tool(retail_world::Return) || !pending || orders.size() < 2) continue;
    Result<Environment> environment =
        Environment::start(world_of("pocket_retail", task_id({true, number})));
    ASSERT_TRUE(environment);
    const std::string& order = orders.key(0);
    const std::string& own = orders[0].find("items")->key(0);
    const std::string& other = orders[1].find("items")->key(0);
    const auto returned = [&](const Value& of, const Value& item) {
      return answer(*environment, scene, retail_world::Return, {{"order", of}, {"item", item}})
          .content;
    };
    EXPECT_EQ(returned(order, other), "Error: item " + other + " not found");
    EXPECT_EQ(returned("O00", own), "Error: order O00 not found");
    EXPECT_EQ(returned(7, own), "Error: order 7 not found");
    EXPECT_EQ(returned(order, own), "Error: order " + order + " is pending");
    return;
  }
  FAIL() << "no task has two orders, the first of them pending, and a tool to return things";
}

}  // namespace
}  // namespace unmask::pocket

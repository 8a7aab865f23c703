// unmask play DOMAIN TASK: be the agent, or the user, by hand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command_line.h"
#include "app/console.h"
#include "app/typed_side.h"
#include "app/world_flags.h"
#include "base/check.h"
#include "environment/pocket/scene.h"
#include "environment/surface.h"
#include "report/render.h"
#include "rollout/episode.h"
#include "rollout/pocket_expert.h"
#include "rollout/pocket_user.h"
#include "rollout/reference.h"

namespace unmask {
namespace {

constexpr const char* kPlayDescription =
    "Plays one task from the keyboard: you are the agent, the user tells their whole scenario at "
    "first,\n"
    "does their part of the reference solution when you speak to them, and ends the conversation "
    "when\n"
    "you speak and nothing of it is left: make your calls before you answer.\n"
    "With --as user it is the other way round; with --solo there is no user.\n"
    "\n"
    "A line is what you say; NAME {JSON} calls a tool. /tools, /policy, /task, /quit.\n"
    "The grade is shown at the end.\n";

constexpr const char* kPlayExamples =
    "examples:\n"
    "  unmask play mock create_task_1 --tau2 ~/tau2-bench\n"
    "  unmask play retail 0\n"
    "  unmask play pocket_telecom t0                (needs no data)\n"
    "  unmask play telecom '[mms_issue]bad_network_preference[PERSONA:None]' --as user\n";

struct PlayArguments {
  std::string domain;
  std::string task;
  std::string as = "agent";
  bool solo = false;
  std::string max_errors = "10";
  std::string max_steps = "200";
  WorldFlags world;
};

void say(const std::string& text) {
  (void)write_standard_output(text);
}

struct Stage {
  std::shared_ptr<const Domain> domain;
  Task task;
  Side side = Side::Agent;
  bool solo = false;
};

std::vector<std::string> tools_of(const Stage& stage) {
  std::vector<std::string> names;
  const auto add = [&](const Toolkit* toolkit) {
    if (toolkit)
      for (const Tool& tool : toolkit->tools) names.push_back(tool.name);
  };
  add(stage.domain->toolkit(stage.side));
  if (stage.solo) add(stage.domain->user_tools);
  return names;
}

std::string instructions_of(const Stage& stage) {
  if (stage.side == Side::User) return stage.task.user_scenario;
  if (stage.solo) return stage.task.ticket.value_or("The task has no ticket.");
  return "Help the user within the policy (/policy).";
}

void run_typed_command(const Stage& stage, const std::string& name) {
  if (name == "tools") {
    say(fmt::format("  {}\n", fmt::join(tools_of(stage), "\n  ")));
    say(fmt::format("  parameters: unmask tools {}{}\n", stage.domain->row->name,
                    stage.side == Side::User ? " --side user" : ""));
  } else if (name == "policy") {
    say(safe_lines(stage.solo ? stage.domain->solo_policy : stage.domain->policy));
  } else if (name == "task") {
    say(safe_lines(instructions_of(stage)));
  } else {
    say("there are /tools, /policy, /task and /quit\n");
  }
}

TypedSide keyboard(const Stage& stage, const TurnOptions& options) {
  TypedSide side{std::cin, say, {}, std::string(to_string(stage.side)), tools_of(stage)};
  side.run_command = [&stage](const std::string& name) { run_typed_command(stage, name); };
  side.errors_left = options.max_errors;
  return side;
}

// In a pocket world the other party goes by what is said, not by the reference solution.
Result<PlayedEpisode> play_in_pocket(const Stage& stage, const pocket::PocketWorld& world,
                                     const TurnOptions& options) {
  if (stage.side == Side::Agent) {
    TypedAgent agent(keyboard(stage, options), stage.solo);
    PocketUser user(stage.domain->user_tools, stage.task.user_scenario);
    return play_episode(stage.domain, stage.task, agent, &user, options);
  }
  const std::optional<pocket::TaskNumber> number = pocket::task_number(stage.task.id);
  UNMASK_CHECK(number.has_value());
  PocketExpert agent(world, pocket::scene_of(world, *number), PocketRates{});
  TypedUser user(keyboard(stage, options), ReplayMessage::Speaker::User);
  return play_episode(stage.domain, stage.task, agent, &user, options);
}

Result<PlayedEpisode> play(const Stage& stage, const TurnOptions& options) {
  const pocket::PocketWorld* world = pocket::find_world(stage.domain->row->name);
  if (world && !stage.solo) return play_in_pocket(stage, *world, options);
  const Side other = stage.side == Side::Agent ? Side::User : Side::Agent;
  const auto plan = std::make_shared<ReferencePlan>(stage.task, other);
  if (stage.side == Side::User) {
    ReferenceAgent agent(plan);
    TypedUser user(keyboard(stage, options), ReplayMessage::Speaker::User);
    return play_episode(stage.domain, stage.task, agent, &user, options);
  }
  TypedAgent agent(keyboard(stage, options), stage.solo);
  ReferenceUser user(plan, stage.task.user_scenario);
  return play_episode(stage.domain, stage.task, agent, stage.solo ? nullptr : &user, options);
}

std::string outcome(const PlayedEpisode& played, const TurnOptions& options) {
  if (played.failure.rfind(kLeft, 0) == 0) return "\nleft before the end, so not graded\n";
  std::string text = fmt::format("\nended by {} after {} steps, {} of {} errors spent\n",
                                 to_string(played.episode.termination), played.step_count,
                                 played.error_count, options.max_errors);
  if (!played.failure.empty()) text += safe_for_terminal(played.failure) + "\n";
  if (!played.grade) return text;
  const Grading& grade = *played.grade;
  text += grade.reward ? fmt::format("reward {}\n", *grade.reward) : "reward open\n";
  if (!grade.note.empty()) text += grade.note + "\n";
  if (grade.breakdown)
    for (const auto& [part, reward] : *grade.breakdown)
      text += fmt::format("  {} {}\n", to_string(part), reward);
  for (const RewardPart part : grade.ungraded)
    text += fmt::format("  {} needs a judge\n", to_string(part));
  for (const StateDifference& difference : grade.differences)
    text += safe_for_terminal(fmt::format("  {}: wanted {}, is {}", difference.path,
                                          difference.wanted.value_or("nothing"),
                                          difference.obtained.value_or("nothing"))) +
            "\n";
  if (grade.statements)
    for (const StatementCheck& check : *grade.statements)
      if (!check.met) text += safe_for_terminal("  never said: " + check.statement) + "\n";
  return text;
}

Result<Stage> stage_of(const PlayArguments& arguments) {
  if (arguments.domain.empty() || arguments.task.empty())
    return Error{ErrorKind::InvalidArgument,
                 "play needs a domain and a task: unmask play DOMAIN TASK; see unmask tasks", ""};
  if (arguments.solo && arguments.as == "user")
    return Error{ErrorKind::InvalidArgument, "with --solo there is no user to play", ""};
  const Result<const DomainRow*> row = domain_named(arguments.domain);
  if (!row) return row.error();
  const Result<DataFolder> data = open_data(arguments.world, **row);
  if (!data) return data.error();
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, arguments.domain);
  if (!domain) return domain.error();
  const Result<std::vector<Task>> tasks = load_tasks(*data, **row);
  if (!tasks) return tasks.error();
  Result<Task> task = task_named(**row, *tasks, arguments.task);
  if (!task) return task.error();
  const Result<std::shared_ptr<const Domain>> world = domain_of_task(*domain, task->id);
  if (!world) return world.error();
  return Stage{*world, std::move(*task), arguments.as == "user" ? Side::User : Side::Agent,
               arguments.solo};
}

void add_options(CLI::App& app, PlayArguments& arguments) {
  app.add_option("domain", arguments.domain)->type_name("DOMAIN")->check(suggested(domain_names()));
  app.add_option("task", arguments.task)->type_name("TASK");
  app.add_option("--as", arguments.as, "agent or user")
      ->check(one_of({"agent", "user"}))
      ->type_name("SIDE")
      ->group("how");
  app.add_flag("--solo", arguments.solo, "the agent acts alone, by the task's ticket")
      ->group("how");
  app.add_option("--max-errors", arguments.max_errors, "failed calls that end it (10)")
      ->check(CLI::Validator(whole_number(1, 1000), "", ""))
      ->type_name("N")
      ->group("how");
  app.add_option("--max-steps", arguments.max_steps, "messages handed on that end it (200)")
      ->check(CLI::Validator(whole_number(1, 100000), "", ""))
      ->type_name("N")
      ->group("how");
  add_world_flags(app, arguments.world);
}

}  // namespace

ExitStatus run_play(const Invocation& invocation) {
  CLI::App app(kPlayDescription, "play");
  app.footer(kPlayExamples);
  PlayArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Stage> stage = stage_of(arguments);
  if (!stage) return fail(stage.error());
  TurnOptions options;
  options.max_errors = static_cast<int>(to_whole_number(arguments.max_errors).value_or(10));
  options.max_steps = static_cast<int>(to_whole_number(arguments.max_steps).value_or(200));
  say(safe_lines(instructions_of(*stage)));
  const Result<PlayedEpisode> played = play(*stage, options);
  if (!played) return fail(played.error());
  return print_result(outcome(*played, options));
}

}  // namespace unmask

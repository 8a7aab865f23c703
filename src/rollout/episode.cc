#include "rollout/episode.h"

#include "environment/json.h"
#include "environment/surface.h"
#include "rollout/conversation.h"

namespace unmask {

namespace {

bool is_participants(const Error& error) {
  return error.kind == ErrorKind::Unavailable || error.where == kContextWindow;
}

Termination termination_of(const Error& error, const std::optional<Party>& at_fault) {
  if (error.where == kContextWindow) return Termination::ContextWindowExceeded;
  if (error.kind == ErrorKind::Unavailable) return Termination::InfrastructureError;
  if (at_fault == Party::Agent) return Termination::AgentError;
  if (at_fault == Party::User) return Termination::UserError;
  return Termination::UnexpectedError;
}

void grade_played(PlayedEpisode& played, const std::shared_ptr<const Domain>& domain,
                  const Task& task, std::span<const TurnMessage> messages,
                  const GradingOptions& options) {
  if (ended_in_infrastructure_error(played.episode)) return;
  const std::vector<ReplayMessage> trajectory(messages.begin(), messages.end());
  Result<Grading> graded = grade(domain, task, played.episode.termination, trajectory, options);
  if (!graded) {
    played.failure = "cannot be graded: " + to_string(graded.error());
    return;
  }
  played.episode.reward = graded->reward;
  played.episode.success = success_of(graded->reward);
  played.episode.reward_info = dump_json(reward_info(*graded));
  const Value evidence = grade_evidence(*graded);
  if (!evidence.is_none()) played.episode.grade_evidence = dump_json(evidence);
  played.grade = std::move(*graded);
}

// Where tools differ by task nobody could tell later which there were.
void list_offered_tools(Episode& episode, const Domain& world) {
  if (!world.row->generated) return;
  const Surface surface = own_surface(world);
  episode.agent_tools = offered_tools(surface.agent_tools);
  episode.user_tools = offered_tools(surface.user_tools);
}

}  // namespace

Result<PlayedEpisode> play_episode(const std::shared_ptr<const Domain>& domain, const Task& task,
                                   Agent& agent, User* user, const TurnOptions& options,
                                   Judge* judge) {
  const Result<std::shared_ptr<const Domain>> world = domain_of_task(domain, task.id);
  if (!world) return world.error();
  Result<Environment> environment = Environment::start(*world, user == nullptr);
  if (!environment) return environment.error();
  TurnLoop loop(task, std::move(*environment), agent, user, options);
  const Result<Done> begun = loop.begin();
  if (!begun && !is_participants(begun.error())) return begun.error();
  const Result<Simulation> simulation = begun ? loop.play_on() : Result<Simulation>(begun.error());

  PlayedEpisode played;
  Episode& episode = played.episode;
  episode.task_id = task.id;
  episode.domain = std::string(domain->row->name);
  episode.seed = options.seed;
  list_offered_tools(episode, **world);
  for (const TurnMessage& message : loop.messages())
    episode.messages.push_back(trace_message(message));
  if (simulation) {
    episode.termination = simulation->termination;
    episode.agent_cost_usd = simulation->agent_cost_usd;
    episode.user_cost_usd = simulation->user_cost_usd;
    if (options.clock) episode.duration_seconds = simulation->duration_seconds;
  } else {
    played.failure = to_string(simulation.error());
    episode.termination = termination_of(simulation.error(), loop.at_fault());
  }
  played.step_count = loop.step_count();
  played.error_count = loop.error_count();
  GradingOptions grading;
  grading.solo = user == nullptr;
  grading.judge = judge;
  grade_played(played, *world, task, loop.messages(), grading);
  return played;
}

}  // namespace unmask

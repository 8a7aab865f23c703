// The pocket worlds as they are played: by an expert that does everything right, by one that errs,
// and by agents that do the wrong thing.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "environment/pocket/scene.h"
#include "environment/pocket/telecom.h"
#include "failure/classify.h"
#include "rollout/chat_double_for_tests.h"
#include "rollout/episode.h"
#include "rollout/llm_agent.h"
#include "rollout/model_factory.h"
#include "rollout/pocket_expert.h"
#include "rollout/pocket_user.h"
#include "rollout/regrade.h"

namespace unmask {
namespace {

using pocket::PocketWorld;
using pocket::TaskNumber;
using Speaker = ReplayMessage::Speaker;

const PocketWorld* const kWorlds[] = {&pocket::telecom(), &pocket::retail()};

const std::shared_ptr<const Domain>& domain_of(const PocketWorld& world) {
  static const std::shared_ptr<const Domain> kTelecom =
      *load_domain(DataFolder::absent(), "pocket_telecom");
  static const std::shared_ptr<const Domain> kRetail =
      *load_domain(DataFolder::absent(), "pocket_retail");
  return &world == &pocket::telecom() ? kTelecom : kRetail;
}

struct PlayedByExpert {
  PlayedEpisode episode;
  std::vector<PocketMove> moves;
};

PlayedByExpert play(const PocketWorld& world, TaskNumber number, const PocketRates& rates = {}) {
  const Task task = pocket::task_of(world, number);
  pocket::Scene scene = pocket::scene_of(world, number);
  const Toolkit tools = pocket::toolkit_of(world, scene, Side::User);
  PocketUser user(&tools, scene.opening);
  PocketExpert expert(world, std::move(scene), rates);
  TurnOptions options;
  options.seed = static_cast<std::int64_t>(number.number);
  Result<PlayedEpisode> played = play_episode(domain_of(world), task, expert, &user, options);
  EXPECT_TRUE(played) << to_string(played.error());
  return {std::move(*played), {expert.moves().begin(), expert.moves().end()}};
}

TEST(PocketExpert, SolvesEveryEvaluationTask) {
  for (const PocketWorld* world : kWorlds)
    for (std::uint64_t number = 0; number < 114; ++number) {
      const PlayedByExpert played = play(*world, {false, number});
      EXPECT_EQ(played.episode.episode.success, true) << world->name << " t" << number;
      EXPECT_EQ(played.episode.error_count, 0) << world->name << " t" << number;
    }
}

TEST(PocketExpert, SolvesTwoThousandTrainingTasksWanderingOrNot) {
  PocketRates rates;
  rates.wander = 0.1;
  for (const PocketWorld* world : kWorlds)
    for (std::uint64_t number = 0; number < 2000; ++number) {
      const PlayedByExpert played =
          play(*world, {true, number}, number % 2 ? rates : PocketRates{});
      EXPECT_EQ(played.episode.episode.success, true) << world->name << " train" << number;
      EXPECT_EQ(played.episode.error_count, 0) << world->name << " train" << number;
    }
}

struct Counts {
  int calls = 0;
  std::map<Channel, int> failures;
  std::map<SubKind, int> kinds;
};

Counts counted(const PocketWorld& world, const PlayedEpisode& played) {
  RunInfo info;
  info.format = "tau2";
  info.domain = std::string(world.name);
  const Classifier classifier(info, nullptr);
  Counts counts;
  for (const ClassifiedCall& call : classifier.classify(played.episode).calls) {
    if (call.side != Side::Agent) continue;
    ++counts.calls;
    if (!is_failure(call.channel)) continue;
    ++counts.failures[call.channel];
    ++counts.kinds[call.kind];
  }
  return counts;
}

// |observed - expected| within four standard errors of a binomial count.
void expect_rate(int observed, int of, double expected, const std::string& what) {
  const double error = 4 * std::sqrt(expected * (1 - expected) / of);
  EXPECT_NEAR(static_cast<double>(observed) / of, expected, error) << what;
}

TEST(PocketExpert, ErrsAtTheRatesItIsGivenAndTheChannelsShowIt) {
  PocketRates rates;
  rates.mistake = 0.06;
  rates.wander = 0.03;
  for (const PocketWorld* world : kWorlds) {
    int due = 0, mistakes = 0, after = 0, recovered = 0, wanders = 0, failures = 0;
    std::map<Channel, int> channels;
    std::map<SubKind, int> kinds;
    for (std::uint64_t number = 0; number < 1500; ++number) {
      const PlayedByExpert played = play(*world, {true, number}, rates);
      const std::vector<PocketMove>& moves = played.moves;
      for (std::size_t i = 0; i + 1 < moves.size(); ++i) {  // the last is "done"
        const bool follows = i > 0 && moves[i - 1] == PocketMove::Mistake;
        (follows ? after : due) += 1;
        mistakes += !follows && moves[i] == PocketMove::Mistake ? 1 : 0;
        recovered += follows && moves[i] == PocketMove::Right ? 1 : 0;
        wanders += moves[i] == PocketMove::Wander ? 1 : 0;
      }
      const Counts counts = counted(*world, played.episode);
      for (const auto& [channel, count] : counts.failures) {
        channels[channel] += count;
        failures += count;
      }
      for (const auto& [kind, count] : counts.kinds) kinds[kind] += count;
    }
    const std::string name(world->name);
    expect_rate(mistakes, due, 0.06, name + " mistakes");
    expect_rate(recovered, after, 0.95, name + " recovery");
    EXPECT_GT(wanders, due / 100) << name;
    // Every mistake is a failed call, and nothing else is: repeated ones included.
    EXPECT_EQ(failures, mistakes + (after - recovered)) << name;
    const bool telecom = world == &pocket::telecom();
    EXPECT_EQ(channels[Channel::ToolName] + channels[Channel::Entity], failures) << name;
    if (telecom) {
      EXPECT_EQ(channels[Channel::Entity], 0);
      EXPECT_GT(kinds[SubKind::OtherSide], failures / 10);
    } else {
      expect_rate(channels[Channel::Entity], failures, 0.5, name + " ids");
    }
    EXPECT_GT(kinds[SubKind::Invented] + kinds[SubKind::NearMiss], failures / 4) << name;
  }
}

TEST(PocketExpert, RefusesRatesOutsideZeroAndOne) {
  PocketRates rates;
  rates.mistake = 1.5;
  const Result<Done> checked = check(rates);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "pocket expert: mistake is not within 0 and 1");
}

// Plays what a function makes of the expert's message.
class Meddler : public Agent {
 public:
  using Change = std::function<TurnMessage(TurnMessage)>;
  Meddler(PocketExpert& expert, Change change) : expert_(expert), change_(std::move(change)) {}
  Result<Done> begin(std::span<const TurnMessage> history) override {
    return expert_.begin(history);
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    Result<TurnMessage> message = expert_.next(incoming);
    if (!message) return message;
    return change_(std::move(*message));
  }

 private:
  PocketExpert& expert_;
  Change change_;
};

PlayedEpisode meddled(const PocketWorld& world, TaskNumber number, Meddler::Change change) {
  const Task task = pocket::task_of(world, number);
  pocket::Scene scene = pocket::scene_of(world, number);
  const Toolkit tools = pocket::toolkit_of(world, scene, Side::User);
  PocketUser user(&tools, scene.opening);
  PocketExpert expert(world, std::move(scene), PocketRates{});
  Meddler agent(expert, std::move(change));
  Result<PlayedEpisode> played = play_episode(domain_of(world), task, agent, &user);
  EXPECT_TRUE(played) << to_string(played.error());
  return std::move(*played);
}

TEST(PocketGrading, FailsWhereTheCaseIsNotClosed) {
  for (const PocketWorld* world : kWorlds) {
    int turn = 0;
    const PlayedEpisode played = meddled(*world, {false, 1}, [&](TurnMessage message) {
      return ++turn < 3 ? message : text_message(Speaker::Agent, "done");
    });
    EXPECT_EQ(played.episode.termination, Termination::UserStop);
    EXPECT_EQ(played.episode.success, false) << world->name;
  }
}

TEST(PocketGrading, FailsWhereTheCaseIsClosedEarly) {
  for (std::uint64_t number = 0; number < 20; ++number) {
    const pocket::Scene scene = pocket::scene_of(pocket::telecom(), {false, number});
    if (scene.solution.size() < 2) continue;
    const std::string name = scene.tool(pocket::telecom_world::Case).name;
    int turn = 0;
    const PlayedEpisode played =
        meddled(pocket::telecom(), {false, number}, [&](TurnMessage message) {
          if (++turn < 3) return message;
          if (turn > 3) return text_message(Speaker::Agent, "done");
          Value arguments = Value::dict({{"id", *scene.database.find("account")}});
          return calls_message(Speaker::Agent, {{"c", name, std::move(arguments), Side::Agent}});
        });
    EXPECT_EQ(played.episode.success, false) << "t" << number;
    EXPECT_EQ(played.error_count, 0);
  }
}

TEST(PocketGrading, FailsAfterAWriteThatNobodyWanted) {
  int tried = 0;
  for (std::uint64_t number = 0; number < 300 && tried < 3; ++number) {
    const pocket::Scene scene = pocket::scene_of(pocket::telecom(), {true, number});
    const pocket::NamedTool* roaming = scene.find_tool(pocket::telecom_world::Roaming);
    if (!roaming || scene.database.find("roaming")->as_bool() ||
        scene.database.find("abroad")->as_bool() || scene.database.find("broken")->as_bool())
      continue;
    ++tried;
    bool written = false;  // in the message that closes the case, beside that call
    const PlayedEpisode played =
        meddled(pocket::telecom(), {true, number}, [&](TurnMessage message) {
          if (message.content != "case") return message;
          written = true;
          Value arguments = Value::dict({{"id", *scene.database.find("line")}});
          message.calls.push_back({"c", roaming->name, std::move(arguments), Side::Agent});
          return message;
        });
    EXPECT_TRUE(written);
    EXPECT_EQ(played.error_count, 0);
    EXPECT_EQ(played.episode.success, false) << "train" << number;
  }
  EXPECT_EQ(tried, 3);
}

TEST(PocketGrading, IsTheSameWhenALogIsGradedAgain) {
  PocketRates rates;
  rates.mistake = 0.1;
  for (const PocketWorld* world : kWorlds) {
    unmask::Run run;
    run.info.domain = std::string(world->name);
    std::vector<Task> tasks;
    for (std::uint64_t number = 0; number < 30; ++number) {
      run.episodes.push_back(play(*world, {false, number}, rates).episode.episode);
      tasks.push_back(pocket::task_of(*world, {false, number}));
    }
    RegradeOptions options;
    options.strict = true;
    const RegradeReport report = regrade(run, domain_of(*world), tasks, options);
    EXPECT_EQ(report.count(RegradeStatus::Same), 30u) << world->name;
  }
}

std::string said(PocketUser& user, const std::string& text) {
  const TurnMessage heard = text_message(Speaker::Agent, text);
  const Result<TurnMessage> message = user.next({&heard, 1});
  EXPECT_TRUE(message);
  if (!message->calls.empty()) return "calls " + message->calls.front().name;
  return message->content.value_or("");
}

TEST(PocketUser, UsesTheToolItIsAskedForAndSaysWhatItHasNot) {
  Toolkit tools;
  tools.tools.push_back({"signalCheck", "", ToolType::Read, false, {}, nullptr});
  PocketUser user(&tools, "hi P42 no service");
  EXPECT_EQ(said(user, "anything"), "hi P42 no service");
  EXPECT_EQ(said(user, "signal ask signalCheck"), "calls signalCheck");
  TurnMessage result = text_message(Speaker::Tool, "airplane on");
  const Result<TurnMessage> told = user.next({&result, 1});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->content, "airplane on");
  EXPECT_EQ(said(user, "signal ask signalFind"), "i have no signalFind");
  EXPECT_EQ(said(user, "done"), "###STOP###");
}

TEST(PocketUser, LosesItsPatienceWithWhatItCannotFollow) {
  PocketUser user(nullptr, "hi");
  EXPECT_EQ(said(user, ""), "hi");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(said(user, "what"), "sorry");
  EXPECT_EQ(said(user, "what"), "###STOP###");
}

TEST(PocketScripts, PlayAnArmOfAPlanAndRefuseOtherWorlds) {
  StagedDomain stage;
  stage.domain = domain_of(pocket::telecom());
  stage.surface = own_surface(*stage.domain);
  const Task task = pocket::task_of(pocket::telecom(), {false, 2});
  ArmPlan arm;
  arm.agent.model = "scripted:pocket_expert?mistake=0.2&wander=0.1";
  ModelPlan user;
  user.model = "scripted:pocket";
  ModelFactory factory([](const std::string&) { return std::nullopt; });
  const Result<Cast> cast = factory.cast({arm, user, stage, task, 1, {}});
  ASSERT_TRUE(cast) << to_string(cast.error());
  const Result<PlayedEpisode> played =
      play_episode(stage.domain, task, *cast->agent, cast->user.get());
  ASSERT_TRUE(played);
  EXPECT_EQ(played->episode.success, true);
  ASSERT_TRUE(played->episode.agent_tools && played->episode.user_tools);

  stage.domain = *load_domain(*DataFolder::open(UNMASK_TEST_DATA "/environment/tau2"), "mock");
  const Result<Cast> refused = factory.cast({arm, user, stage, task, 1, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "scripted:pocket_expert plays the pocket worlds only, not mock");
}

TEST(PocketModels, AreShownThePolicyAloneAndTheOpening) {
  const Task task = pocket::task_of(pocket::telecom(), {false, 4});
  const std::shared_ptr<const Domain> world =
      *domain_of_task(domain_of(pocket::telecom()), task.id);
  const Surface surface = own_surface(*world);
  ChatDouble model({ChatDouble::chat_text("done")});
  LlmAgent agent(model, agent_prompt(surface), chat_tools(agent_tools(surface, false)));
  PocketUser user(world->user_tools, "");
  const Result<PlayedEpisode> played = play_episode(world, task, agent, &user);
  ASSERT_TRUE(played);
  EXPECT_EQ(played->episode.termination, Termination::UserStop);
  ASSERT_EQ(model.received.size(), 1u);
  const std::vector<ChatMessage>& messages = model.received[0].messages;
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].content, world->policy);
  EXPECT_EQ(messages[1].role, ChatMessage::Role::User);
  EXPECT_EQ(messages[1].content, pocket::scene_of(pocket::telecom(), {false, 4}).opening);
  for (const Tool& tool : world->agent_tools->tools)
    EXPECT_NE(model.received[0].tools.find("\"" + tool.name + "\""), std::string::npos);
}

TEST(PocketScripts, PlayTheUserBesideAnAgentThatIsNoScript) {
  StagedDomain stage;
  stage.domain = domain_of(pocket::retail());
  stage.surface = own_surface(*stage.domain);
  const Task task = pocket::task_of(pocket::retail(), {false, 2});
  ArmPlan arm;
  arm.label = "small";
  arm.agent.model = "small";
  arm.agent.endpoint.base_url = "http://127.0.0.1:9/v1";
  RunPlan plan;
  plan.arms = {arm};
  plan.user.model = "scripted:pocket";
  ModelFactory factory([](const std::string&) { return std::nullopt; });
  const Result<Done> prepared = factory.prepare(plan, {});
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  const Result<Cast> cast = factory.cast({plan.arms[0], plan.user, stage, task, 1, {}});
  ASSERT_TRUE(cast) << to_string(cast.error());
  EXPECT_NE(dynamic_cast<LlmAgent*>(cast->agent.get()), nullptr);
  EXPECT_NE(dynamic_cast<PocketUser*>(cast->user.get()), nullptr);
}

// Words as a tokenizer sees them: capitals begin a word, an id is a letter and a number.
void collect_words(std::string_view text, std::set<std::string>& words) {
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool after_digit = !word.empty() && word.back() >= '0' && word.back() <= '9';
    if (!(c >= 'a' && c <= 'z') && !(digit && after_digit)) flush();
    if (digit || letter)
      word += c;
    else if (c != ' ')
      words.insert(std::string(1, c));
  }
  flush();
}

TEST(PocketEpisodes, AreMadeOfFewWords) {
  PocketRates rates;
  rates.mistake = 0.06;
  rates.wander = 0.03;
  std::set<std::string> words;
  for (const PocketWorld* world : kWorlds)
    for (std::uint64_t number = 0; number < 1500; ++number) {
      const PlayedByExpert played = play(*world, {true, number}, rates);
      const Episode& episode = played.episode.episode;
      collect_words(pocket::policy_of(*world, pocket::scene_of(*world, {true, number})), words);
      for (const OfferedTool& tool : *episode.agent_tools) collect_words(tool.name, words);
      for (const Message& message : episode.messages) {
        collect_words(message.text, words);
        if (message.result) collect_words(message.result->text, words);
        for (const ToolCall& call : message.calls) {
          collect_words(call.name, words);
          collect_words(call.arguments, words);
        }
      }
    }
  EXPECT_LT(words.size(), 450u);
  EXPECT_GT(words.size(), 100u);
}

}  // namespace
}  // namespace unmask

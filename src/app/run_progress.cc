#include "app/run_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "app/console.h"
#include "base/json_writer.h"
#include "report/display.h"
#include "report/render.h"

namespace unmask {
namespace {

int columns() {
  winsize size{};
  constexpr int kUsual = 80;
  constexpr int kNarrowest = 40;
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<int>(size.ws_col, kNarrowest);
}

std::string bar(std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 16;
  const std::size_t full = total == 0 ? kWidth : done * kWidth / total;
  std::string text;
  for (std::size_t i = 0; i < kWidth; ++i) text += i < full ? "█" : "░";
  return text;
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "–";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

}  // namespace

void ArmTally::add(const Episode& episode, const Classifier& classifier) {
  if (ended_in_infrastructure_error(episode)) {
    ++infrastructure;
    return;
  }
  ++done;
  if (episode.success) {
    ++graded;
    passed += *episode.success ? 1 : 0;
  }
  for (const ClassifiedCall& call : classifier.classify(episode).calls) {
    if (call.side != Side::Agent) continue;
    ++calls;
    hallucinated += call.channel == Channel::ToolName ? 1 : 0;
  }
  for (const Message& message : episode.messages)
    if (message.role == Role::Agent && message.usage) tokens += message.usage->completion;
}

RunProgress::RunProgress(const RunPlan& plan, const std::vector<PlannedEpisode>& episodes,
                         ProgressForm form)
    : plan_(plan), form_(form) {
  for (const ArmPlan& arm : plan.arms) {
    labels_.push_back(arm.label);
    arms_[arm.label];
  }
  for (const PlannedEpisode& episode : episodes) ++arms_[episode.key.arm].tally.total;
}

const Classifier& RunProgress::classifier_of(const EpisodeKey& key) {
  std::unique_ptr<Classifier>& classifier = classifiers_[{key.arm, key.domain}];
  if (!classifier) {
    for (const ArmPlan& arm : plan_.arms)
      if (arm.label == key.arm)
        classifier = std::make_unique<Classifier>(run_info(plan_, arm, key.domain), nullptr);
  }
  return *classifier;
}

void RunProgress::count_found(const EpisodeKey& key, const Episode& episode) {
  if (ended_in_infrastructure_error(episode)) return;  // to be played again
  Arm& arm = arms_.at(key.arm);
  arm.tally.add(episode, classifier_of(key));
  arm.done_before = arm.tally.done;
  arm.tokens_before = arm.tally.tokens;
}

void RunProgress::start() {
  started_ = std::chrono::steady_clock::now();
  for (const std::string& label : labels_) {
    Arm& arm = arms_[label];
    if (arm.tally.total > 0) arm.tenth_told = arm.tally.done * 10 / arm.tally.total;
    if (form_ != ProgressForm::Json) continue;
    JsonWriter json;
    json.begin_object().field("event", "begin").field("arm", label);
    json.field("done", arm.tally.done).field("total", arm.tally.total).end_object();
    print_error(json.text() + "\n");
  }
  draw_bars(true);
}

void RunProgress::begun(const EpisodeKey&) {
  ++in_flight_;
}

void RunProgress::saved(const EpisodeKey& key, const Episode& episode) {
  --in_flight_;
  Arm& arm = arms_.at(key.arm);
  arm.tally.add(episode, classifier_of(key));
  if (form_ == ProgressForm::Json) write_json(key, episode, arm);
  draw_bars(false);
  if (form_ != ProgressForm::Lines || arm.tally.total == 0) return;
  const std::size_t tenth = arm.tally.done * 10 / arm.tally.total;
  if (tenth == arm.tenth_told) return;
  arm.tenth_told = tenth;
  print_error(line_of(key.arm, arm) + "\n");
}

void RunProgress::left(const EpisodeKey& key) {
  --in_flight_;
  if (form_ != ProgressForm::Json) return;
  JsonWriter json;
  json.begin_object().field("event", "left").field("arm", key.arm).field("domain", key.domain);
  json.field("task", key.task).field("trial", key.trial).end_object();
  print_error(json.text() + "\n");
}

void RunProgress::finish(const RunEnd& end) {
  draw_bars(true);
  if (form_ != ProgressForm::Json) return;
  JsonWriter json;
  json.begin_object().field("event", "end").field("saved", end.saved).field("left", end.left);
  json.field("stopped", end.stopped).key("error");
  if (end.error)
    json.value(to_string(*end.error));
  else
    json.null();
  json.end_object();
  print_error(json.text() + "\n");
}

void RunProgress::write_json(const EpisodeKey& key, const Episode& episode, const Arm& arm) const {
  JsonWriter json;
  json.begin_object().field("event", "episode").field("arm", key.arm).field("domain", key.domain);
  json.field("task", key.task).field("trial", key.trial);
  json.field("termination", to_string(episode.termination)).field("success", episode.success);
  json.field("done", arm.tally.done).field("total", arm.tally.total).end_object();
  print_error(json.text() + "\n");
}

std::string RunProgress::line_of(const std::string& label, const Arm& arm) const {
  const ArmTally& tally = arm.tally;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const std::size_t now = tally.done - arm.done_before;
  std::string text =
      fmt::format("{}/{}  success {}  hallucinated calls {}", tally.done, tally.total,
                  percent(tally.passed, tally.graded), percent(tally.hallucinated, tally.calls));
  const std::int64_t tokens = tally.tokens - arm.tokens_before;
  if (tokens > 0 && seconds > 0)
    text += fmt::format("  {:.0f} tokens/s", static_cast<double>(tokens) / seconds);
  if (tally.infrastructure > 0) text += fmt::format("  {} lost to servers", tally.infrastructure);
  if (now > 0 && tally.done < tally.total)
    text += "  " +
            duration(seconds / static_cast<double>(now) *
                     static_cast<double>(tally.total - tally.done)) +
            " left";
  return safe_for_terminal(label) + "  " + text;
}

void RunProgress::draw_bars(bool now) {
  if (form_ != ProgressForm::Bars) return;
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - drawn_at_ < std::chrono::milliseconds(200)) return;
  drawn_at_ = time;
  std::string text;
  if (lines_drawn_ > 0) text += fmt::format("\x1b[{}A", lines_drawn_);
  const auto room = static_cast<std::size_t>(columns()) - 1;
  for (const std::string& label : labels_) {
    const Arm& arm = arms_[label];
    const std::string line = bar(arm.tally.done, arm.tally.total) + " " + line_of(label, arm);
    text += "\r\x1b[K" + fit(line, room) + "\n";
  }
  lines_drawn_ = labels_.size();
  print_error(text);
}

ProgressForm usual_progress_form() {
  return ::isatty(STDERR_FILENO) != 0 ? ProgressForm::Bars : ProgressForm::Lines;
}

}  // namespace unmask

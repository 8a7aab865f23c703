// Failed calls as they happened: the messages around each, folded away.
#include <fmt/format.h>

#include "report/html_page.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

std::string_view role_in_words(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::Agent:
      return "agent";
    case Role::User:
      return "user";
    case Role::Tool:
      return "tool";
  }
  return "";
}

std::string call_html(const ExcerptCall& call) {
  return fmt::format("<pre{}>{}{}({})</pre>\n", call.failed ? " class=\"bad\"" : "",
                     call.failed ? "<span class=\"flag\">✗ this call: </span>" : "",
                     escaped(shown_name(call.name)), escaped_lines(call.arguments));
}

std::string message_html(const ExcerptMessage& message) {
  std::string out =
      fmt::format("<p class=\"who\">{} <span class=\"dim\">message {}{}</span></p>\n",
                  role_in_words(message.role), message.index + 1, message.failed ? ", error" : "");
  if (!message.text.empty())
    out += fmt::format("<pre{}>{}</pre>\n", message.failed ? " class=\"bad\"" : "",
                       escaped_lines(message.text));
  for (const ExcerptCall& call : message.calls) out += call_html(call);
  return out;
}

std::string excerpt_html(const Excerpt& excerpt, std::string_view arm, bool open) {
  std::string title = arm.empty() ? "" : fmt::format("{}: ", arm);
  title += excerpt.name.empty() ? "a call without a name" : excerpt.name;
  if (excerpt.kind != SubKind::None) title += fmt::format(" ({})", to_string(excerpt.kind));
  title += fmt::format(", task {}, trial {}, call {}", excerpt.task, excerpt.trial + 1,
                       excerpt.position + 1);
  std::string inner = "<div class=\"talk\">\n";
  inner += fmt::format("<p class=\"dim small\">{}; message {} of {}.{}</p>\n",
                       escaped(excerpt.where), excerpt.message + 1, excerpt.all_messages,
                       excerpt.evidence.empty() ? "" : " Judged by: " + escaped(excerpt.evidence));
  for (const ExcerptMessage& message : excerpt.messages) inner += message_html(message);
  return folded(title, inner + "</div>\n", open);
}

std::string arm_excerpts(const std::vector<Excerpt>& all, Channel channel, std::string_view arm,
                         const Excerpt* open) {
  std::string out;
  for (const Excerpt& excerpt : all)
    if (excerpt.channel == channel) out += excerpt_html(excerpt, arm, &excerpt == open);
  return out;
}

constexpr std::string_view kAbout =
    "The first failed calls of each channel by task and trial, one a task. What looks like a "
    "secret "
    "is replaced by [removed] and the mailbox of e-mail addresses is shortened; long texts are "
    "cut.";

}  // namespace

std::string excerpts(const std::vector<Excerpt>& baseline, const std::vector<Excerpt>& candidate,
                     std::string_view baseline_name, std::string_view candidate_name, int level) {
  if (baseline.empty() && candidate.empty()) return "";
  std::string out = paragraph(escaped(kAbout), "dim small");
  // One is in sight: the candidate's first.
  const Excerpt* open = candidate.empty() ? &baseline.front() : &candidate.front();
  for (const Channel channel : kFailureChannels) {
    const std::string inner = arm_excerpts(baseline, channel, baseline_name, open) +
                              arm_excerpts(candidate, channel, candidate_name, open);
    if (!inner.empty())
      out += fmt::format("<h{0}><code>{1}</code> {2}</h{0}>\n{3}", level, to_string(channel),
                         escaped(channel_in_words(channel)), inner);
  }
  return out;
}

std::string excerpts(const std::vector<Excerpt>& of_one_arm, int level) {
  return excerpts(of_one_arm, {}, "", "", level);
}

}  // namespace unmask::html

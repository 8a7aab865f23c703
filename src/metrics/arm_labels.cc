#include "metrics/arm_labels.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace unmask {
namespace {

using Qualifier = std::string (*)(const LabelledArm&);

std::string both(const std::string& domain, const std::string& other) {
  return domain.empty() || other.empty() ? "" : domain + ", " + other;
}

constexpr Qualifier kQualifiers[] = {
    [](const LabelledArm& arm) { return arm.domain; },
    [](const LabelledArm& arm) { return arm.file; },
    [](const LabelledArm& arm) { return arm.role; },
    [](const LabelledArm& arm) { return both(arm.domain, arm.file); },
    [](const LabelledArm& arm) { return both(arm.domain, arm.role); },
};

bool tells_apart(Qualifier qualifier, const std::vector<const LabelledArm*>& alike) {
  std::set<std::string> seen;
  return std::all_of(alike.begin(), alike.end(), [&](const LabelledArm* arm) {
    const std::string text = qualifier(*arm);
    return !text.empty() && seen.insert(text).second;
  });
}

// nullptr: nothing differs.
Qualifier qualifier_of(const std::vector<const LabelledArm*>& alike) {
  for (const Qualifier qualifier : kQualifiers)
    if (tells_apart(qualifier, alike)) return qualifier;
  return nullptr;
}

// What was made may be a third arm's label, or nothing may differ.
void number_repeats(std::vector<std::string>& labels) {
  std::set<std::string> taken(labels.begin(), labels.end());
  std::set<std::string> used;
  for (std::string& label : labels) {
    if (used.insert(label).second) continue;
    int number = 2;
    while (taken.count(label + " #" + std::to_string(number)) > 0) ++number;
    label += " #" + std::to_string(number);
    taken.insert(label);
    used.insert(label);
  }
}

}  // namespace

std::string file_label(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.empty()) name = std::filesystem::path(path).parent_path().filename();  // "folder/"
  for (const char* extension : {".gz", ".zst", ".json", ".jsonl", ".eval"})
    if (name.extension() == extension) name = name.stem();
  return name.empty() ? path : name.string();
}

std::vector<std::string> distinct_labels(const std::vector<LabelledArm>& arms) {
  std::map<std::string, std::vector<const LabelledArm*>> by_label;
  for (const LabelledArm& arm : arms) by_label[arm.label].push_back(&arm);
  std::vector<std::string> labels;
  for (const LabelledArm& arm : arms) {
    const std::vector<const LabelledArm*>& alike = by_label[arm.label];
    const Qualifier qualifier = alike.size() > 1 ? qualifier_of(alike) : nullptr;
    labels.push_back(qualifier == nullptr ? arm.label : arm.label + " (" + qualifier(arm) + ")");
  }
  number_repeats(labels);
  return labels;
}

std::optional<Error> label_clash(const std::vector<LabelledArm>& arms) {
  for (const LabelledArm& arm : arms) {
    if (!arm.given) continue;
    for (const LabelledArm& other : arms) {
      if (&other == &arm) continue;
      const bool shown = other.label == arm.label;
      const bool own = other.own_name == arm.label && arm.own_name != arm.label;
      if (!shown && !own) continue;
      const std::string what = shown && other.given ? "label" : "own name";
      return Error{ErrorKind::InvalidArgument,
                   "the label '" + arm.label + "' given to the " + arm.role + " is also the " +
                       other.role + "'s " + what + ": give each arm a label of its own",
                   ""};
    }
  }
  return std::nullopt;
}

}  // namespace unmask

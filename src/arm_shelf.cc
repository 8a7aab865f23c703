#include "arm_shelf.h"

#include <algorithm>
#include <utility>

#include "metrics/arm_labels.h"

namespace unmask {
namespace {

LabelledArm labelled(const ShelvedArm& shelved) {
  const Arm& arm = shelved.loaded.arm;
  return {
      arm.label,       own_name(shelved.source, arm.info),       shelved.source.label_is_exclusive,
      arm.info.domain, file_label(shelved.source.paths.front()), shelved.role};
}

// Of second runs that no label was given for, and whose log tells no other name.
bool is_called_after_its_arm(const ShelvedArm& shelved, const std::vector<LabelledArm>& arms) {
  return shelved.rerun_of && shelved.source.label.empty() &&
         own_name(shelved.source, shelved.loaded.arm.info) == arms[*shelved.rerun_of].own_name;
}

}  // namespace

Result<Done> ArmShelf::read(const ArmSource& source, const std::string& role,
                            const ArmSource* rerun_of) {
  if (index_of(source) < arms_.size()) return Done{};
  Result<LoadedArm> loaded = load_arm(source, options_);
  if (!loaded) return loaded.error();
  const std::optional<std::size_t> of =
      rerun_of == nullptr ? std::nullopt : std::optional<std::size_t>(index_of(*rerun_of));
  arms_.push_back({source, role, of, std::move(*loaded)});
  return Done{};
}

std::size_t ArmShelf::index_of(const ArmSource& source) const {
  const auto found = std::find_if(arms_.begin(), arms_.end(), [&](const ShelvedArm& arm) {
    return arm.source.paths == source.paths && arm.source.label == source.label;
  });
  return static_cast<std::size_t>(found - arms_.begin());
}

std::optional<Error> ArmShelf::tell_apart() {
  std::vector<LabelledArm> arms;
  std::vector<std::size_t> after;  // places of second runs that are called after their arms
  std::vector<std::size_t> place;  // of arms[i] on the shelf
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (is_called_after_its_arm(arms_[i], arms)) {
      after.push_back(i);
      continue;
    }
    arms.push_back(labelled(arms_[i]));
    place.push_back(i);
  }
  if (const std::optional<Error> clash = label_clash(arms)) return clash;
  const std::vector<std::string> labels = distinct_labels(arms);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    arms[i].label = labels[i];
    arms_[place[i]].loaded.arm.label = labels[i];
  }
  for (const std::size_t i : after) {
    arms_[i].loaded.arm.label = arms_[*arms_[i].rerun_of].loaded.arm.label + " rerun";
    arms.push_back(labelled(arms_[i]));
    place.push_back(i);
  }
  const std::vector<std::string> all = distinct_labels(arms);
  for (std::size_t i = 0; i < arms.size(); ++i) arms_[place[i]].loaded.arm.label = all[i];
  return std::nullopt;
}

}  // namespace unmask

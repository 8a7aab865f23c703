// Arms already read, so that a baseline shared by several cells is read once, under labels that
// tell them apart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "audit.h"

namespace unmask {

struct ShelvedArm {
  ArmSource source;
  std::string role;                     // at its first mention: "baseline", "candidate 2"
  std::optional<std::size_t> rerun_of;  // place of the arm it is a second run of
  LoadedArm loaded;
};

class ArmShelf {
 public:
  // `options` must outlive the shelf.
  explicit ArmShelf(const AuditOptions& options) : options_(options) {}

  // Reads an arm unless it stands here. `rerun_of`: an arm that was read, of which this is a second
  // run.
  Result<Done> read(const ArmSource& source, const std::string& role,
                    const ArmSource* rerun_of = nullptr);

  // Gives all arms different labels; a second run is called after its arm. An exclusive label that
  // another arm goes by is an error.
  std::optional<Error> tell_apart();

  // Of an arm that was read.
  const LoadedArm& at(const ArmSource& source) const { return arms_.at(index_of(source)).loaded; }
  std::size_t index_of(const ArmSource& source) const;

  // In the order they were first read.
  const std::vector<ShelvedArm>& arms() const { return arms_; }

 private:
  const AuditOptions& options_;
  std::vector<ShelvedArm> arms_;
};

}  // namespace unmask

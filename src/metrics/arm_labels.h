// Labels that tell the arms of one audit apart: a report, a table or a chart names an arm by
// nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace unmask {

// What an arm is called, and what may tell it from another that is called the same.
struct LabelledArm {
  std::string label;     // as it would be shown
  std::string own_name;  // without a given label: the log's model, else the file's name
  bool given = false;    // the user gave the label to this arm alone
  std::string domain;
  std::string file;  // of the first piece, without folder and extension
  std::string role;  // "baseline", "candidate 2", "baseline rerun"
};

// "int4" of "logs/int4.json.gz"; the whole name where nothing is left.
std::string file_label(const std::string& path);

// The labels in order, none twice: those that are alike get in brackets what differs between them
// all: the domain, else the file, else the role, else domain and one of these; a number where
// nothing does. A label that is not shared stays as it is.
std::vector<std::string> distinct_labels(const std::vector<LabelledArm>& arms);

// A given label that is also another arm's label, or its own name and not that of the arm it was
// given to. InvalidArgument; nullopt: none.
std::optional<Error> label_clash(const std::vector<LabelledArm>& arms);

}  // namespace unmask

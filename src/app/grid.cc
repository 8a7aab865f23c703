#include "app/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "app/arm_argument.h"
#include "base/file.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The letters that come before the number of bits in names of precisions.
bool is_precision_prefix(std::string_view letters) {
  constexpr std::string_view kPrefixes[] = {"f",   "fp",   "bf",   "float", "bfloat",
                                            "int", "uint", "q",    "iq",    "tq",
                                            "w",   "nf",   "mxfp", "nvfp",  "mx"};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), letters) != std::end(kPrefixes);
}

// File name without the extensions of logs.
std::string log_stem(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view extension : {".json", ".jsonl", ".gz", ".zst", ".eval"}) {
      if (name.size() <= extension.size() || !ends_with(lower(name), extension)) continue;
      name.resize(name.size() - extension.size());
      cut = true;
    }
  }
  return name;
}

// "telecom_int4_awq" -> the domain's length: at a name that is known, else at the first '_'.
std::optional<std::size_t> domain_length(std::string_view rest) {
  for (std::size_t at = rest.find('_'); at != std::string_view::npos; at = rest.find('_', at + 1))
    if (known_domain(rest.substr(0, at)) && precision_bits(rest.substr(at + 1))) return at;
  const std::size_t first = rest.find('_');
  if (first == std::string_view::npos || first == 0 || !precision_bits(rest.substr(first + 1)))
    return std::nullopt;
  return first;
}

using CellKey = std::tuple<std::string, std::string, std::string>;

std::string cell_name(const GridArm& arm) {
  std::string name = arm.family;
  for (const std::string& part : {arm.architecture, arm.domain, arm.precision})
    if (!part.empty()) name += (name.empty() ? "" : " ") + part;
  return name;
}

ArmSource source_of(const GridArm& arm) {
  return {arm.files, arm.label};
}

std::optional<ArmSource> rerun_of(const GridArm& arm) {
  if (arm.rerun.empty()) return std::nullopt;
  return ArmSource{arm.rerun, arm.label + " rerun"};
}

// The baseline of a cell: the one that says so, else the one of highest precision.
Result<const GridArm*> baseline_of(const std::vector<const GridArm*>& arms) {
  const GridArm* chosen = nullptr;
  for (const GridArm* arm : arms) {
    if (!arm->baseline) continue;
    if (chosen != nullptr)
      return Error{
          ErrorKind::InvalidArgument,
          fmt::format("'{}' and '{}' are both the baseline of one cell", chosen->label, arm->label),
          arm->where};
    chosen = arm;
  }
  if (chosen != nullptr) return chosen;
  const GridArm* second = nullptr;
  for (const GridArm* arm : arms) {
    const std::optional<int> bits = precision_bits(arm->precision);
    if (!bits)
      return Error{
          ErrorKind::InvalidArgument,
          fmt::format("how many bits the precision '{}' has is not known: mark the baseline "
                      "of this cell with baseline = true",
                      arm->precision),
          arm->where};
    const int best = chosen == nullptr ? 0 : *precision_bits(chosen->precision);
    if (chosen == nullptr || *bits > best) {
      chosen = arm;
      second = nullptr;
    } else if (*bits == best) {
      second = arm;
    }
  }
  if (second != nullptr)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("'{}' and '{}' have the same, highest precision: mark one of them with "
                    "baseline = true",
                    chosen->label, second->label),
        second->where};
  return chosen;
}

Result<std::vector<GridArm>> arms_of_folder(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path().string());
  if (error) return Error{ErrorKind::Unavailable, "cannot list: " + error.message(), folder};
  std::sort(paths.begin(), paths.end());
  std::vector<GridArm> arms;
  std::map<std::string, std::vector<std::string>> reruns;  // label -> files
  for (const std::string& path : paths) {
    std::optional<GridArm> arm = arm_of_file_name(path);
    if (!arm) continue;
    if (!arm->rerun.empty())
      reruns[arm->label].push_back(path);
    else
      arms.push_back(std::move(*arm));
  }
  for (GridArm& arm : arms) {
    const auto found = reruns.find(arm.label);
    if (found != reruns.end()) arm.rerun = found->second;
  }
  if (arms.empty())
    return Error{ErrorKind::InvalidArgument,
                 "holds no arms.toml and no log named FAMILY_DOMAIN_PRECISION.json", folder};
  return arms;
}

}  // namespace

std::optional<int> precision_bits(std::string_view precision) {
  const std::string text = lower(precision);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of("-_. ", begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (word == "awq" || word == "gptq") return 4;
    const std::size_t digit = word.find_first_of("0123456789");
    if (digit == std::string_view::npos || !is_precision_prefix(word.substr(0, digit))) continue;
    int bits = 0;
    for (std::size_t i = digit; i < word.size() && word[i] >= '0' && word[i] <= '9' && bits < 100;
         ++i)
      bits = bits * 10 + (word[i] - '0');
    if (bits >= 1 && bits <= 64) return bits;
  }
  return std::nullopt;
}

std::optional<GridArm> arm_of_file_name(const std::string& path) {
  std::string stem = log_stem(path);
  constexpr std::string_view kRerun = "_rerun";
  const bool rerun = ends_with(stem, kRerun);
  if (rerun) stem.resize(stem.size() - kRerun.size());
  const std::size_t first = stem.find('_');
  if (first == std::string::npos || first == 0) return std::nullopt;
  const std::string_view rest = std::string_view(stem).substr(first + 1);
  const std::optional<std::size_t> length = domain_length(rest);
  if (!length) return std::nullopt;
  GridArm arm;
  arm.label = stem;
  arm.family = stem.substr(0, first);
  for (const std::string_view architecture : {"dense", "moe"}) {
    const std::string end = "-" + std::string(architecture);
    if (arm.family.size() <= end.size() || !ends_with(lower(arm.family), end)) continue;
    arm.family.resize(arm.family.size() - end.size());
    arm.architecture = architecture;
  }
  arm.domain = rest.substr(0, *length);
  arm.precision = rest.substr(*length + 1);
  (rerun ? arm.rerun : arm.files).push_back(path);
  arm.where = path;
  return arm;
}

Result<std::vector<CellSources>> cells_of_grid(const std::vector<GridArm>& arms) {
  std::vector<NamedPath> named;
  std::vector<CellKey> order;
  std::map<CellKey, std::vector<const GridArm*>> groups;
  for (const GridArm& arm : arms) {
    for (const std::string& file : arm.files) named.emplace_back(file, arm.label);
    for (const std::string& file : arm.rerun) named.emplace_back(file, arm.label + " rerun");
    const CellKey key(arm.family, arm.architecture, arm.domain);
    if (groups[key].empty()) order.push_back(key);
    groups[key].push_back(&arm);
  }
  const Result<Done> distinct = check_distinct(named);
  if (!distinct) return distinct.error();
  std::vector<CellSources> cells;
  for (const CellKey& key : order) {
    const std::vector<const GridArm*>& group = groups[key];
    if (group.size() < 2)
      return Error{
          ErrorKind::InvalidArgument,
          fmt::format("'{}' has nothing to be compared with: no other arm of the same family, "
                      "architecture and domain",
                      group.front()->label),
          group.front()->where};
    const Result<const GridArm*> baseline = baseline_of(group);
    if (!baseline) return baseline.error();
    for (const GridArm* arm : group)
      if (arm != *baseline)
        cells.push_back({cell_name(*arm), source_of(**baseline), source_of(*arm),
                         rerun_of(**baseline), rerun_of(*arm),
                         CellPlace{arm->family, arm->architecture, arm->domain, arm->precision}});
  }
  return cells;
}

Result<std::vector<CellSources>> read_grid(const std::string& path) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  std::string toml = path;
  if (folder) {
    toml = (fs::path(path) / "arms.toml").string();
    if (!fs::exists(toml, error)) {
      const Result<std::vector<GridArm>> arms = arms_of_folder(path);
      if (!arms) return arms.error();
      return cells_of_grid(*arms);
    }
  }
  constexpr std::uint64_t kLargest = 16 << 20;
  const Result<std::string> text = read_file(toml, kLargest);
  if (!text) return text.error();
  const Result<std::vector<GridArm>> arms =
      parse_arms(*text, toml, fs::path(toml).parent_path().string());
  if (!arms) return arms.error();
  return cells_of_grid(*arms);
}

}  // namespace unmask

#include "ingest/ingest.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "ingest/format.h"
#include "ingest/measurements.h"
#include "ingest/source.h"

namespace unmask {
namespace {

std::string format_names() {
  std::string names;
  for (const LogFormat& format : format_table())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

Result<const LogFormat*> choose_format(const Source& source, const ReadOptions& options) {
  if (!options.format.empty()) {
    for (const LogFormat& format : format_table())
      if (format.name == options.format) return &format;
    return Error{ErrorKind::Unsupported,
                 "there is no log format '" + options.format + "' (known: " + format_names() + ")",
                 ""};
  }
  if (!source.is_directory() && source.bytes().empty())
    return Error{ErrorKind::Malformed, "is empty", source.name()};
  for (const std::string_view head : {source.head(), source.wide_head()})
    for (const LogFormat& format : format_table())
      if (format.sniff(source, head)) return &format;
  return Error{ErrorKind::Unsupported,
               std::string(source.is_directory() ? "is a folder that" : "is a file that") +
                   " no known log format recognises (known: " + format_names() + ")",
               source.name()};
}

Result<IngestReport> read(const Source& source, const ReadOptions& options,
                          const EpisodeSink& sink) {
  const Result<const LogFormat*> format = choose_format(source, options);
  if (!format) return format.error();
  // A sink is promised complete run info: the format's name is part of it.
  std::once_flag once;
  RunInfo named;
  Measurements measurements;
  const EpisodeSink naming = [&](const RunInfo& info, std::size_t index, Episode&& episode) {
    measurements.check(index, episode);
    if (!info.format.empty()) return sink(info, index, std::move(episode));
    std::call_once(once, [&] {
      named = info;
      named.format = (*format)->name;
    });
    sink(named, index, std::move(episode));
  };
  Result<IngestReport> report = (*format)->read(source, options, naming);
  if (!report) {
    // A damaged stream explains whatever the format complains about.
    if (!source.damage()) return report;
    Error error = report.error();
    error.message += "; " + source.damage()->reason;
    return error;
  }
  if (std::optional<Warning> warning = measurements.warning())
    report->warnings.push_back(std::move(*warning));
  // A native log keeps the format it was made from.
  if (report->run.info.format.empty()) report->run.info.format = (*format)->name;
  if (report->bytes == 0) report->bytes = source.bytes().size();
  if (source.damage()) report->dropped.insert(report->dropped.begin(), *source.damage());
  if (!source.still_whole())
    report->dropped.insert(report->dropped.begin(),
                           Dropped{"file_changed",
                                   "the file became shorter while it was read: what was behind its "
                                   "new end is lost",
                                   source.name()});
  return report;
}

// Keeps the episodes in order, for those who want them all.
struct Collector {
  std::mutex mutex{};
  std::vector<Episode> episodes{};

  EpisodeSink sink() {
    return [this](const RunInfo&, std::size_t index, Episode&& episode) {
      const std::lock_guard lock(mutex);
      if (episodes.size() <= index) episodes.resize(index + 1);
      episodes[index] = std::move(episode);
    };
  }
};

Result<IngestReport> collect(const Source& source, const ReadOptions& options) {
  Collector collector;
  Result<IngestReport> report = read(source, options, collector.sink());
  if (report) report->run.episodes = std::move(collector.episodes);
  return report;
}

}  // namespace

Result<IngestReport> ingest(const std::string& path, const ReadOptions& options) {
  const Result<Source> source = Source::open(path, options);
  if (!source) return source.error();
  return collect(*source, options);
}

Result<IngestReport> ingest(const std::string& path, const ReadOptions& options,
                            const EpisodeSink& sink) {
  const Result<Source> source = Source::open(path, options);
  if (!source) return source.error();
  return read(*source, options, sink);
}

Result<IngestReport> ingest_bytes(std::string_view bytes, const std::string& name,
                                  const ReadOptions& options) {
  const Result<Source> source = Source::over(bytes, name, options);
  if (!source) return source.error();
  return collect(*source, options);
}

Result<IngestReport> ingest_bytes(std::string_view bytes, const std::string& name,
                                  const ReadOptions& options, const EpisodeSink& sink) {
  const Result<Source> source = Source::over(bytes, name, options);
  if (!source) return source.error();
  return read(*source, options, sink);
}

std::vector<FormatDescription> log_formats() {
  std::vector<FormatDescription> names;
  for (const LogFormat& format : format_table()) names.push_back({format.name, format.description});
  return names;
}

std::vector<std::string> log_format_names() {
  std::vector<std::string> names;
  for (const LogFormat& format : format_table()) names.emplace_back(format.name);
  return names;
}

}  // namespace unmask

// Parses the records of a log on several threads and hands the episodes on in the log's order.
// Internal to ingest.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "ingest/ingest.h"
#include "ingest/lazy_json.h"
#include "ingest/notes.h"

namespace unmask {

struct PipelineRecord {
  std::size_t ordinal = 0;  // 0-based among the records of the log, read or not
  std::string_view text;    // what to parse; empty where parse() finds it by `ordinal`
  std::size_t offset = 0;   // of text in the log
  std::size_t line = 0;     // 1-based, in formats that have lines
  bool cut = false;         // the log ended right behind it: may be half written
};

struct RecordPipeline {
  // Yields the next record; false at the end. Called by one thread at a time, in order.
  std::function<bool(PipelineRecord& record)> next;

  // Parses one. Called from several threads, each with a LazyRecord of its own; what it has to tell
  // goes to `notes`. nullopt: dropped (and said so in the notes).
  std::function<std::optional<Episode>(const PipelineRecord& record, LazyRecord& json,
                                       Notes& notes)>
      parse;

  // Told that records up to `last` are about to be parsed. Called from several threads.
  std::function<void(const PipelineRecord& last)> taken;  // may be empty

  // Told, by one thread at a time and in order, that records before `ordinal` are done with.
  std::function<void(const PipelineRecord& last)> finished;  // may be empty

  // Runs until next() is false. Episodes go to `sink` under dense indices in the order of the
  // records; the notes of the records are joined in that order too. At most a few megabytes of
  // records for each thread are held at any time (or one record, when it is larger). Returns the
  // number of episodes. Errors   exceptions of the callbacks end the run and are rethrown.
  std::size_t run(int threads, const RunInfo& info, const EpisodeSink& sink, Notes& notes) const;
};

}  // namespace unmask

// The records of a log, one after another, and the loop that reads them all. Internal to ingest.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/field_reader.h"
#include "ingest/json_scan.h"
#include "ingest/record_pipeline.h"
#include "ingest/source.h"

namespace unmask {

// Nothing a benchmark writes nests deeper, and rooms further on may recurse.
inline constexpr std::size_t kMaxDepth = 512;

// The elements of a JSON array within the source. Those that cannot be read are dropped with a
// note.
class ArrayRecords {
 public:
  // The array opens at source.bytes()[begin]. `record` is what one is called ("simulation").
  ArrayRecords(const Source& source, std::size_t begin, std::string record);

  // The next record; false at the end of the array or of the bytes.
  bool next(PipelineRecord& record);

  // Once next() was false: notes what was wrong with the end. True when the array was closed.
  bool finish();

  std::size_t position() const { return walk_.position(); }  // after the array once it is closed
  Notes& notes() { return notes_; }

 private:
  const Source& source_;
  JsonWalk walk_;
  std::string record_;
  Notes notes_;
};

// The lines of a JSON Lines log that are not blank; lines are counted from 1.
class LineRecords {
 public:
  explicit LineRecords(const Source& source) : source_(source) {}

  struct Line {
    std::string_view text;  // without the line end
    std::size_t offset = 0;
    std::size_t number = 0;
    bool last = false;  // no line end follows: may be half written
  };
  std::optional<Line> next();

 private:
  const Source& source_;
  std::size_t position_ = 0;
  std::size_t number_ = 0;
};

// Loads one record, an object, and visits its members. False: it was dropped, with the reason in
// the notes, and what the visitor noted before is taken back. `record` is what it is called.
bool visit_record(LazyRecord& json, std::string_view text, std::string_view record,
                  const FieldReader& fields,
                  Visitor<void(std::string_view key, LazyValue value)> visit, bool cut = false);

// Reads all records and hands the episodes on, telling the progress and giving back the memory of
// what was read. Notes of the records are appended to `notes`. Returns the number of episodes.
std::size_t read_log_records(const Source& source, const ReadOptions& options, const RunInfo& info,
                             const EpisodeSink& sink, Notes& notes, RecordPipeline pipeline);

}  // namespace unmask

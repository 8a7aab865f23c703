// Inspect's .eval form: a zip archive with a header and one entry, or one folder, for each sample.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "ingest/inspect.h"
#include "ingest/record_pipeline.h"
#include "ingest/zip_archive.h"

namespace unmask {
namespace {

constexpr std::string_view kHeader = "header.json";
constexpr std::string_view kStart = "_journal/start.json";
constexpr std::string_view kSamples = "samples/";
constexpr std::string_view kJson = ".json";
constexpr std::string_view kShell = "/sample.json";
// One JSON text may not reach this: the parser counts in 32 bits.
constexpr std::uint64_t kMaxEntry = (std::uint64_t{1} << 32) - 1;

using ByName = std::map<std::string_view, const ZipEntry*>;

// One sample as stored: `entry` alone, or with the folder of its sequences.
struct StoredSample {
  const ZipEntry* entry = nullptr;
  std::string_view folder;  // "samples/7_epoch_1/" of a chunked sample; empty otherwise
};

struct Contents {
  ByName by_name;  // of repeated names the last
  const ZipEntry* header = nullptr;
  std::vector<StoredSample> samples;
  std::uint64_t expanded_bytes = 0;  // of all that may be read
  std::uint64_t stored_bytes = 0;    // of the samples' own entries
};

bool is_sample_json(std::string_view name) {
  return name.starts_with(kSamples) && name.ends_with(kJson);
}

// The folder of a chunked sample an entry lies in, by the shells that exist; empty when in none.
std::string_view folder_of(std::string_view name, const ByName& by_name) {
  for (std::size_t slash = name.find('/', kSamples.size()); slash != name.npos;
       slash = name.find('/', slash + 1)) {
    const std::string shell = std::string(name.substr(0, slash)) + std::string(kShell);
    const std::string monolith = std::string(name.substr(0, slash)) + std::string(kJson);
    if (by_name.contains(shell) && !by_name.contains(monolith)) return name.substr(0, slash + 1);
  }
  return {};
}

Contents contents_of(const ZipArchive& archive, Notes& notes, const std::string& name) {
  Contents contents;
  std::vector<std::string_view> order;  // of first appearance
  for (const ZipEntry& entry : archive.entries()) {
    const auto [known, fresh] = contents.by_name.try_emplace(entry.name, &entry);
    if (fresh) order.push_back(entry.name);
    known->second = &entry;
    if (!fresh && is_sample_json(entry.name))
      notes.warn("superseded_entry",
                 "a sample is in the archive more than once; the last record counts",
                 fmt::format("{}: {}", name, entry.name));
  }
  for (const std::string_view candidate : {kHeader, kStart}) {
    const auto found = contents.by_name.find(candidate);
    if (contents.header == nullptr && found != contents.by_name.end())
      contents.header = found->second;
  }
  if (contents.header != nullptr) contents.expanded_bytes = contents.header->expanded_bytes;
  for (const std::string_view entry_name : order) {
    if (!is_sample_json(entry_name)) continue;
    const ZipEntry* const entry = contents.by_name.at(entry_name);
    contents.expanded_bytes += std::min(entry->expanded_bytes, kMaxEntry);
    const std::string_view folder = folder_of(entry_name, contents.by_name);
    const bool shell = !folder.empty() && entry_name.substr(folder.size() - 1) == kShell;
    if (!folder.empty() && !shell) continue;
    contents.samples.push_back({entry, folder});
    contents.stored_bytes += entry->stored_bytes;
  }
  return contents;
}

class ArchiveReader {
 public:
  ArchiveReader(const ZipArchive& archive, const Contents& contents, const std::string& name)
      : archive_(archive), contents_(contents), name_(name) {}

  std::string place(const ZipEntry& entry) const {
    return fmt::format("{}: {}", name_, entry.name);
  }

  Result<std::string> bytes_of(const ZipEntry& entry) const {
    if (entry.expanded_bytes > kMaxEntry)
      return Error{ErrorKind::Malformed, "states 4 GiB or more of JSON in one entry", place(entry)};
    Result<std::string> bytes = archive_.read(entry);
    if (!bytes) return Error{bytes.error().kind, bytes.error().message, place(entry)};
    return bytes;
  }

  Result<LoadedSample> load(const StoredSample& stored, Notes& notes) const {
    const Result<std::string> bytes = bytes_of(*stored.entry);
    if (!bytes) return bytes.error();
    Result<LoadedSample> loaded = load_inspect_sample(*bytes, notes, place(*stored.entry));
    if (!loaded) return Error{ErrorKind::Malformed, loaded.error().message, place(*stored.entry)};
    if (stored.folder.empty()) return loaded;
    if (std::optional<Error> error = add_sequences(stored, *loaded, notes)) return *error;
    return loaded;
  }

 private:
  // The items of a chunked sequence, "<folder>messages/0.json", "<folder>messages/1000.json" ...
  Result<std::vector<JsonNode>> sequence(const StoredSample& stored, std::string_view which,
                                         std::size_t max_chunks, LoadedSample& loaded,
                                         Notes& notes) const {
    const std::string prefix = fmt::format("{}{}/", stored.folder, which);
    std::map<std::uint64_t, const ZipEntry*> chunks;
    for (auto at = contents_.by_name.lower_bound(prefix);
         at != contents_.by_name.end() && at->first.starts_with(prefix); ++at) {
      const std::string_view start = at->first.substr(prefix.size());
      std::uint64_t number = 0;
      const std::from_chars_result read =
          std::from_chars(start.data(), start.data() + start.size(), number);
      const std::string_view rest(read.ptr,
                                  static_cast<std::size_t>(start.data() + start.size() - read.ptr));
      if (read.ec == std::errc() && rest == kJson) chunks[number] = at->second;
    }
    std::vector<JsonNode> items;
    for (const auto& [start, entry] : chunks) {
      if (max_chunks-- == 0) break;
      if (start != items.size())
        return Error{
            ErrorKind::Malformed,
            fmt::format("the {} of the sample are incomplete: a part starts at {} where {} "
                        "is expected",
                        which, start, items.size()),
            place(*entry)};
      const Result<std::string> bytes = bytes_of(*entry);
      if (!bytes) return bytes.error();
      JsonRepairs repairs;
      Result<JsonTree> tree = JsonTree::parse(*bytes, &repairs);
      if (!tree) return Error{ErrorKind::Malformed, tree.error().message, place(*entry)};
      note_repairs(repairs, notes, place(*entry));
      const std::vector<JsonNode> part = tree->root().elements();
      items.insert(items.end(), part.begin(), part.end());
      loaded.trees.push_back(std::move(*tree));
    }
    return items;
  }

  std::optional<Error> add_sequences(const StoredSample& stored, LoadedSample& loaded,
                                     Notes& notes) const {
    constexpr std::size_t kAll = SIZE_MAX;
    const Result<std::vector<JsonNode>> messages =
        sequence(stored, "messages", kAll, loaded, notes);
    if (!messages) return messages.error();
    const Result<std::vector<JsonNode>> attachments =
        sequence(stored, "attachments", kAll, loaded, notes);
    if (!attachments) return attachments.error();
    // The first thousand or so events show the tools; the others are left packed.
    Result<std::vector<JsonNode>> events = sequence(stored, "events", 1, loaded, notes);
    if (!events) return events.error();
    loaded.sample.attachments = Attachments(*attachments);
    loaded.sample.events = std::move(*events);
    loaded.sample.messages.clear();
    return take_messages(*messages, loaded, place(*stored.entry));
  }

  // The conversation: half-open ranges into the sequence of messages.
  static std::optional<Error> take_messages(const std::vector<JsonNode>& messages,
                                            LoadedSample& loaded, const std::string& where) {
    // A conversation may repeat a message; this many repeats are no conversation.
    const std::size_t most = messages.size() * 4 + 1000;
    for (const JsonNode& range : loaded.sample.fields["message_refs"].elements()) {
      const std::vector<JsonNode> ends = range.elements();
      const std::int64_t begin = ends.size() == 2 ? ends[0].integer().value_or(-1) : -1;
      const std::int64_t end = ends.size() == 2 ? ends[1].integer().value_or(-1) : -1;
      if (begin < 0 || end < begin || static_cast<std::size_t>(end) > messages.size() ||
          loaded.sample.messages.size() + static_cast<std::size_t>(end - begin) > most)
        return Error{ErrorKind::Malformed, "refers to messages that the sample does not have",
                     where};
      loaded.sample.messages.insert(loaded.sample.messages.end(), messages.begin() + begin,
                                    messages.begin() + end);
    }
    return std::nullopt;
  }

  const ZipArchive& archive_;
  const Contents& contents_;
  const std::string& name_;
};

std::vector<std::string> first_scored(const ArchiveReader& reader, const Contents& contents) {
  for (const StoredSample& stored : contents.samples) {
    const Result<std::string> bytes = reader.bytes_of(*stored.entry);
    if (!bytes) continue;
    const Result<JsonTree> tree = JsonTree::parse(*bytes);
    if (!tree) continue;
    std::vector<std::string> names = scorer_names(tree->root());
    if (!names.empty()) return names;
  }
  return {};
}

std::size_t read_samples(const ArchiveReader& reader, const Contents& contents,
                         const ReadOptions& options, const InspectStart& start,
                         const EpisodeSink& sink, Notes& notes) {
  std::size_t next = 0;
  std::uint64_t done_bytes = 0;
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord&) { return next++ < contents.samples.size(); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord&,
                       Notes& own) -> std::optional<Episode> {
    const StoredSample& stored = contents.samples[record.ordinal];
    Result<LoadedSample> loaded = reader.load(stored, own);
    if (!loaded) {
      own.drop("malformed_record", loaded.error().message, loaded.error().where);
      return std::nullopt;
    }
    return read_inspect_sample(loaded->sample, start.reading, reader.place(*stored.entry), own);
  };
  pipeline.finished = [&](const PipelineRecord& last) {
    done_bytes += contents.samples[last.ordinal].entry->stored_bytes;
    if (options.progress) options.progress(done_bytes, contents.stored_bytes);
  };
  return pipeline.run(options.threads, start.info, sink, notes);
}

}  // namespace

Result<IngestReport> read_inspect_archive(const Source& source, const ReadOptions& options,
                                          const EpisodeSink& sink) {
  const Result<ZipArchive> archive = ZipArchive::open(source.bytes());
  if (!archive) return Error{archive.error().kind, archive.error().message, source.name()};
  Notes notes;
  const Contents contents = contents_of(*archive, notes, source.name());
  if (contents.expanded_bytes > options.max_expanded_bytes)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("the archive's samples would expand to {} bytes, beyond the limit of {}",
                    contents.expanded_bytes, options.max_expanded_bytes),
        source.name()};
  if (contents.header == nullptr)
    return Error{ErrorKind::Malformed,
                 "is not an Inspect log: the archive has neither header.json nor "
                 "_journal/start.json",
                 source.name()};
  const ArchiveReader reader(*archive, contents, source.name());
  const Result<std::string> header_bytes = reader.bytes_of(*contents.header);
  if (!header_bytes) return header_bytes.error();
  JsonRepairs repairs;
  const Result<JsonTree> header = JsonTree::parse(*header_bytes, &repairs);
  if (!header)
    return Error{ErrorKind::Malformed, header.error().message, reader.place(*contents.header)};
  note_repairs(repairs, notes, reader.place(*contents.header));
  Result<InspectStart> start =
      start_inspect(header->root(), options, first_scored(reader, contents), notes, source.name());
  if (!start) return start.error();
  const std::size_t episodes = read_samples(reader, contents, options, *start, sink, notes);
  return finish_inspect(source, header->root(), std::move(start->info), episodes, std::move(notes));
}

}  // namespace unmask

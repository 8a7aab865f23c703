// Workers take records in order under one lock, a batch at a time, parse them outside it, and put
// the outcome into a ring of slots under another, so that nobody with results waits for a scan.
// Whoever fills the oldest slot hands on everything that has become ready, so indices stay dense
// and in order although parsing is not. A worker that would run more than a ring ahead of the
// oldest unfinished batch waits; the one parsing that batch never does.
//
// A batch is half a megabyte of text: a record is often parsed faster than a lock changes hands.
#include "ingest/record_pipeline.h"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace unmask {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{512} << 10;
constexpr std::size_t kBatchRecords = 256;

struct Batch {
  bool ready = false;
  std::size_t number = 0;
  std::vector<PipelineRecord> records;
  std::vector<Episode> episodes;  // of those that were not dropped
  Notes notes;
};

struct Progress {
  const RecordPipeline& pipeline;
  const RunInfo& info;
  const EpisodeSink& sink;
  Notes& notes;

  // Held while records are taken; before `mutex`, never after it.
  std::mutex source{};
  std::size_t records = 0;  // taken
  std::size_t taken = 0;    // batches handed to workers

  std::mutex mutex{};  // of all below
  std::vector<Batch> ring{};
  std::condition_variable room{};
  std::size_t delivered = 0;  // batches handed on
  std::size_t episodes = 0;
  bool exhausted = false;

  // Waits until the batch `taken` has a slot. False when no more are wanted.
  bool wait_for_slot() {
    std::unique_lock lock(mutex);
    room.wait(lock, [&] { return exhausted || taken - delivered < ring.size(); });
    return !exhausted;
  }

  void stop() {
    const std::lock_guard lock(mutex);
    exhausted = true;
    room.notify_all();
  }

  // The next batch; false when there is none.
  bool take(Batch& batch) {
    const std::lock_guard lock(source);
    batch = Batch();
    if (!wait_for_slot()) return false;
    std::size_t bytes = 0;
    while (bytes < kBatchBytes && batch.records.size() < kBatchRecords) {
      PipelineRecord record;
      record.ordinal = records;
      if (!pipeline.next(record)) {
        stop();
        break;
      }
      ++records;
      // A record without text is a file: a batch of its own.
      bytes += record.text.empty() ? kBatchBytes : record.text.size();
      batch.records.push_back(record);
    }
    if (batch.records.empty()) return false;
    batch.number = taken++;
    return true;
  }

  // Hands on what is ready from the oldest slot on. The sink is called outside the lock.
  void put(Batch&& filled) {
    std::vector<std::pair<std::size_t, Batch>> ready;  // with the index of the first episode
    {
      const std::lock_guard lock(mutex);
      Batch& mine = ring[filled.number % ring.size()];
      mine = std::move(filled);
      mine.ready = true;
      while (ring[delivered % ring.size()].ready) {
        Batch& oldest = ring[delivered % ring.size()];
        notes.append(std::move(oldest.notes));
        if (pipeline.finished) pipeline.finished(oldest.records.back());
        const std::size_t first = episodes;
        episodes += oldest.episodes.size();
        ready.emplace_back(first, std::move(oldest));
        oldest = Batch();
        ++delivered;
      }
      if (!ready.empty()) room.notify_all();
    }
    for (auto& [first, batch] : ready)
      for (std::size_t i = 0; i < batch.episodes.size(); ++i)
        sink(info, first + i, std::move(batch.episodes[i]));
  }

  void work() {
    LazyRecord json;
    Batch batch;
    while (take(batch)) {
      if (pipeline.taken) pipeline.taken(batch.records.back());
      for (const PipelineRecord& record : batch.records) {
        Notes found;
        if (std::optional<Episode> episode = pipeline.parse(record, json, found))
          batch.episodes.push_back(std::move(*episode));
        batch.notes.append(std::move(found));
      }
      put(std::move(batch));
    }
  }
};

}  // namespace

std::size_t RecordPipeline::run(int threads, const RunInfo& info, const EpisodeSink& sink,
                                Notes& notes) const {
  const int workers = resolve_threads(threads);
  Progress state{*this, info, sink, notes};
  state.ring.resize(2 * static_cast<std::size_t>(workers));
  parallel_for(static_cast<std::size_t>(workers), workers, [&](std::size_t) {
    try {
      state.work();
    } catch (...) {
      state.stop();
      throw;
    }
  });
  return state.episodes;
}

}  // namespace unmask

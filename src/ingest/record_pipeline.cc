// Workers take records in order under one lock, parse them outside it, and put the outcome into a
// ring of slots. Whoever fills the oldest slot hands on everything that has become ready, so
// indices stay dense and in order although parsing is not. A worker that would run more than a ring
// ahead of the oldest unfinished record waits; the one parsing that record never does.
#include "ingest/record_pipeline.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace unmask {
namespace {

struct Slot {
  bool ready = false;
  PipelineRecord record;
  std::optional<Episode> episode;
  Notes notes;
};

struct Progress {
  const RecordPipeline& pipeline;
  const RunInfo& info;
  const EpisodeSink& sink;
  Notes& notes;

  std::vector<Slot> ring;
  std::mutex mutex{};
  std::condition_variable room{};
  std::size_t taken = 0;      // records handed to workers
  std::size_t delivered = 0;  // records handed on
  std::size_t episodes = 0;
  bool exhausted = false;

  bool take(PipelineRecord& record) {
    std::unique_lock lock(mutex);
    room.wait(lock, [&] { return exhausted || taken - delivered < ring.size(); });
    if (exhausted) return false;
    record = PipelineRecord();
    record.ordinal = taken;
    if (!pipeline.next(record)) {
      exhausted = true;
      room.notify_all();
      return false;
    }
    ++taken;
    return true;
  }

  // Hands on what is ready from the oldest slot on. The sink is called outside the lock.
  void put(Slot&& filled) {
    std::vector<std::pair<std::size_t, Episode>> ready;
    {
      const std::lock_guard lock(mutex);
      Slot& mine = ring[filled.record.ordinal % ring.size()];
      mine = std::move(filled);
      mine.ready = true;
      while (ring[delivered % ring.size()].ready) {
        Slot& slot = ring[delivered % ring.size()];
        if (slot.episode) ready.emplace_back(episodes++, std::move(*slot.episode));
        notes.append(std::move(slot.notes));
        if (pipeline.finished) pipeline.finished(slot.record);
        slot = Slot();
        ++delivered;
      }
      room.notify_all();
    }
    for (auto& [index, episode] : ready) sink(info, index, std::move(episode));
  }

  void work() {
    LazyRecord json;
    PipelineRecord record;
    while (take(record)) {
      Slot slot;
      slot.record = record;
      slot.episode = pipeline.parse(record, json, slot.notes);
      put(std::move(slot));
    }
  }
};

}  // namespace

std::size_t RecordPipeline::run(int threads, const RunInfo& info, const EpisodeSink& sink,
                                Notes& notes) const {
  const int workers = resolve_threads(threads);
  Progress state{*this, info, sink, notes,
                 std::vector<Slot>(4 * static_cast<std::size_t>(workers))};
  parallel_for(static_cast<std::size_t>(workers), workers, [&](std::size_t) {
    try {
      state.work();
    } catch (...) {
      const std::lock_guard lock(state.mutex);
      state.exhausted = true;
      state.room.notify_all();
      throw;
    }
  });
  return state.episodes;
}

}  // namespace unmask

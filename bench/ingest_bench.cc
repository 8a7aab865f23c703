// How much slower is reading a τ²-bench log, end to end, than merely walking its JSON?
//
// Both are timed on the same file, the same simulations and the same number of threads:
//   walk    simdjson on demand visits every value of every simulation and unescapes every string;
//           where the simulations are is known beforehand and costs nothing.
//   ingest  ingest() with a sink that counts: mapping, cutting the file, parsing into episodes.
// Prints the best of several rounds, the ratio, and the peak resident memory of ingest.
//
//   ingest_bench [--file FILE | --megabytes N] [--threads N] [--rounds N]
//
// Without a file one is made up: simulations in τ²-bench's layout with policy and raw responses.
#include <fcntl.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "ingest/ingest.h"
#include "ingest/json_scan.h"

namespace unmask {
namespace {

namespace od = simdjson::ondemand;

std::uint64_t walk_value(od::value value) {
  switch (value.type()) {
    case od::json_type::object: {
      std::uint64_t seen = 1;
      for (auto field : value.get_object()) {
        seen += std::string_view(field.unescaped_key()).size();
        seen += walk_value(field.value());
      }
      return seen;
    }
    case od::json_type::array: {
      std::uint64_t seen = 1;
      for (auto element : value.get_array()) seen += walk_value(element.value());
      return seen;
    }
    case od::json_type::string:
      return std::string_view(value.get_string()).size();
    case od::json_type::number:
      return static_cast<std::uint64_t>(double(value.get_double()) != 0);
    case od::json_type::boolean:
      return static_cast<std::uint64_t>(bool(value.get_bool()));
    case od::json_type::null:
      return static_cast<std::uint64_t>(value.is_null());
  }
  return 0;
}

struct Slice {
  std::size_t begin;
  std::size_t length;
};

std::vector<Slice> simulations_of(std::string_view bytes) {
  std::vector<Slice> slices;
  JsonWalk members(bytes, skip_space(bytes, 0));
  while (const auto member = members.next_unskipped()) {
    if (member->key != "simulations") {
      members.resume(scan_value(bytes, member->begin).value());
      continue;
    }
    JsonWalk list(bytes, member->begin);
    while (const auto item = list.next()) slices.push_back({item->begin, item->end - item->begin});
    members.resume(list.position());
  }
  return slices;
}

// Wall time, and the processor time of all threads: the latter still means something on a machine
// that others use as well.
struct Seconds {
  double wall;
  double cpu;

  static Seconds now() {
    struct timespec cpu {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const auto wall = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(wall).count(),
            static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9};
  }
  Seconds since(Seconds start) const { return {wall - start.wall, cpu - start.cpu}; }
  void keep_best(Seconds other) {
    wall = std::min(wall, other.wall);
    cpu = std::min(cpu, other.cpu);
  }
};

Seconds time_walk(const std::string& path, const std::vector<Slice>& slices, int threads) {
  const Seconds start = Seconds::now();
  const Result<MappedFile> file = MappedFile::open(path);
  const std::string_view bytes = file->bytes();
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> seen{0};
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    od::parser parser;
    std::uint64_t mine = 0;
    for (std::size_t i = next++; i < slices.size(); i = next++) {
      const Slice slice = slices[i];
      if (slice.begin + slice.length + simdjson::SIMDJSON_PADDING > bytes.size()) continue;
      od::document document = parser.iterate(bytes.data() + slice.begin, slice.length,
                                             slice.length + simdjson::SIMDJSON_PADDING);
      mine += walk_value(document.get_value());
    }
    seen += mine;
  });
  const Seconds seconds = Seconds::now().since(start);
  if (seen == 0) std::fprintf(stderr, "the walk saw nothing\n");
  return seconds;
}

Seconds time_ingest(const std::string& path, int threads, std::size_t& episodes) {
  ReadOptions options;
  options.threads = threads;
  std::atomic<std::size_t> messages{0};
  const Seconds start = Seconds::now();
  const Result<IngestReport> report = ingest(
      path, options,
      [&](const RunInfo&, std::size_t, Episode&& episode) { messages += episode.messages.size(); });
  const Seconds seconds = Seconds::now().since(start);
  if (!report) {
    std::fprintf(stderr, "%s\n", to_string(report.error()).c_str());
    std::exit(2);
  }
  episodes = report->episodes;
  return seconds;
}

void append_message(std::string& out, Rng& rng, int index) {
  const std::string words =
      "I can see that the line is active but roaming is off.\\nPlease toggle \\\"data roaming\\\" "
      "and "
      "tell me what the status bar shows, then we check the signal again. ";
  std::string text;
  for (std::uint32_t i = 0; i <= rng.below(3); ++i) text += words;
  const bool user = index % 2 == 1;
  const std::string number = std::to_string(rng.below(100000));
  out +=
      "        {\n          \"role\": \"" + std::string(user ? "user" : "assistant") +
      "\",\n          \"content\": \"" + text +
      "\",\n          \"tool_calls\": null,\n"
      "          \"turn_idx\": " +
      std::to_string(index) +
      ",\n          \"timestamp\": \"2026-05-31T21:12:23.385053\",\n          \"cost\": 0.00" +
      number +
      ",\n          \"usage\": {\n            \"completion_tokens\": 44,\n"
      "            \"prompt_tokens\": " +
      number +
      "\n          },\n          \"raw_data\": {\n"
      "            \"choices\": [\n              {\n                \"finish_reason\": \"stop\",\n"
      "                \"message\": {\n                  \"content\": \"" +
      text +
      "\",\n                  \"role\": \"assistant\",\n                  \"tool_calls\": null\n"
      "                }\n              }\n            ]\n          },\n"
      "          \"generation_time_seconds\": 0.81\n        },\n"
      "        {\n          \"role\": \"assistant\",\n          \"content\": null,\n"
      "          \"tool_calls\": [\n            {\n              \"id\": \"call_" +
      number +
      "\",\n              \"name\": \"get_details\",\n              \"arguments\": {\n"
      "                \"line_id\": \"L" +
      number +
      "\"\n              },\n"
      "              \"requestor\": \"assistant\"\n            }\n          ]\n        },\n"
      "        {\n          \"id\": \"call_" +
      number +
      "\",\n          \"role\": \"tool\",\n          \"content\": \"{\\\"line_id\\\": \\\"L" +
      number +
      "\\\", \\\"status\\\": \\\"Active\\\", \\\"data_used_gb\\\": \\\"9.5\\\"}\",\n"
      "          \"requestor\": \"assistant\",\n          \"error\": false\n        },\n";
}

void write_made_up_log(const std::string& path, std::uint64_t bytes) {
  Rng rng(20260731);
  std::string policy;
  for (int i = 0; i < 120; ++i) policy += "You should offer to refuel the data of the line.\\n";
  std::ofstream out(path);
  out << "{\n  \"timestamp\": \"2026-05-31T21:12:23\",\n  \"info\": {\"max_errors\": 10, "
         "\"environment_info\": {\"domain_name\": \"telecom\"}},\n  \"tasks\": [],\n"
         "  \"simulations\": [\n";
  std::uint64_t written = 0;
  for (int number = 0; written < bytes; ++number) {
    std::string simulation = number == 0 ? "" : ",\n";
    simulation += "    {\n      \"id\": \"" + std::to_string(number) +
                  "\",\n      \"task_id\": \"t" + std::to_string(number / 4) +
                  "\",\n      \"reward_info\": {\"reward\": 1.0},\n"
                  "      \"messages\": [\n";
    for (int i = 0; i < 20; ++i) append_message(simulation, rng, i);
    simulation.resize(simulation.size() - 2);
    simulation += "\n      ],\n      \"trial\": " + std::to_string(number % 4) +
                  ",\n      \"termination_reason\": \"user_stop\",\n      \"policy\": \"" + policy +
                  "\"\n    }";
    out << simulation;
    written += simulation.size();
  }
  out << "\n  ],\n  \"simulation_index\": null\n}\n";
}

int run(int count, char** arguments) {
  std::string path;
  std::uint64_t megabytes = 300;
  int threads = 0;
  int rounds = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--file") path = arguments[i + 1];
    if (name == "--megabytes") megabytes = static_cast<std::uint64_t>(std::atoll(arguments[i + 1]));
    if (name == "--threads") threads = std::atoi(arguments[i + 1]);
    if (name == "--rounds") rounds = std::atoi(arguments[i + 1]);
  }
  threads = resolve_threads(threads);
  const bool made_up = path.empty();
  if (made_up) {
    path = "/tmp/unmask_ingest_bench_" + std::to_string(::getpid()) + ".json";
    write_made_up_log(path, megabytes << 20);
  }
  // Ingest first, alone: the peak of resident memory belongs to it.
  std::size_t episodes = 0;
  Seconds best_ingest = time_ingest(path, threads, episodes);
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const Result<MappedFile> file = MappedFile::open(path);
  const std::vector<Slice> slices = simulations_of(file->bytes());
  Seconds best_walk = time_walk(path, slices, threads);
  for (int round = 0; round < rounds; ++round) {
    best_walk.keep_best(time_walk(path, slices, threads));
    best_ingest.keep_best(time_ingest(path, threads, episodes));
  }
  const double size = static_cast<double>(file->bytes().size());
  std::printf("file %.1f MB, %zu simulations, %d threads, best of %d\n", size / 1e6, slices.size(),
              threads, rounds);
  std::printf("walk    wall %7.3f s  %5.2f GB/s   processor %7.3f s\n", best_walk.wall,
              size / best_walk.wall / 1e9, best_walk.cpu);
  std::printf("ingest  wall %7.3f s  %5.2f GB/s   processor %7.3f s   %zu episodes\n",
              best_ingest.wall, size / best_ingest.wall / 1e9, best_ingest.cpu, episodes);
  std::printf("ratio   wall %7.2f                processor %7.2f\n",
              best_ingest.wall / best_walk.wall, best_ingest.cpu / best_walk.cpu);
  std::printf("peak resident memory of ingest, mapped pages included: %.0f MB\n",
              static_cast<double>(usage.ru_maxrss) / 1024);
  if (made_up) ::unlink(path.c_str());
  return episodes == slices.size() ? 0 : 1;
}

}  // namespace
}  // namespace unmask

int main(int count, char** arguments) {
  return unmask::run(count, arguments);
}

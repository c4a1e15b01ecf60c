#pragma once
// A perf.data file, or what `perf record -o -` wrote into a pipe: its header, its data about the machine, and
// its records. Untrusted.

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/import/perf/records.h"

namespace prof::perf {

struct BuildId {
  std::string path;
  std::vector<uint8_t> bytes;
};

// A time of the records' clock and the corresponding wall-clock time.
struct ClockData {
  uint64_t wall_ns;  // since the epoch
  uint64_t clock_ns;
};

struct About {
  std::string host, system_release, architecture;
  std::string processor;             // "GenuineIntel,6,85,7"; empty if unknown
  std::vector<std::string> command;  // of perf
  std::vector<BuildId> build_ids;
  std::optional<ClockData> clock;
};

class Recording {
 public:
  // `bytes` must outlive the recording. Throws ImportError. Damage after the header is a warning.
  Recording(std::span<const uint8_t> bytes, const std::string& name, std::vector<std::string>& warnings);

  const std::vector<Event>& events() const { return events_; }  // never empty
  const About& about() const { return about_; }

  // Visits all records in the order of time, those without a time before the others. Returns the number of
  // damaged ones.
  size_t replay(Visitor& visitor) const;

 private:
  struct Entry {
    uint64_t time;
    const uint8_t* record;
  };

  void read_file_header();
  void read_events(const FileHeader& header);
  void read_features(const FileHeader& header);
  void read_feature(uint32_t feature, std::span<const uint8_t> bytes);
  void read_build_ids(std::span<const uint8_t> bytes);
  void read_event_descriptions(std::span<const uint8_t> bytes);
  void read_event(std::span<const uint8_t> attributes, std::span<const uint8_t> ids);
  void read_event_update(std::span<const uint8_t> record);
  Event* event_with(uint64_t id);
  size_t event_of(std::span<const uint8_t> record) const;

  // Returns the number of bytes that were read; fewer than all if the last record is incomplete.
  size_t index_records(std::span<const uint8_t> data, bool compressed);
  uint64_t read_tool_record(std::span<const uint8_t> record);
  void index_compressed();

  std::optional<std::span<const uint8_t>> section(const Section& section) const;
  [[noreturn]] void damaged(std::string_view what) const;

  std::span<const uint8_t> bytes_;
  std::string name_;
  std::vector<std::string>& warnings_;
  std::vector<Event> events_;
  std::unordered_map<uint64_t, size_t> event_by_id_;
  About about_;
  std::vector<Entry> entries_;
  std::vector<std::span<const uint8_t>> compressed_;  // one zstd stream
  std::deque<std::vector<uint8_t>> decompressed_;
};

}  // namespace prof::perf

#pragma once
// Device activity as markers of Firefox Profiler. Each task is on the track of its queue, its submission on
// that of the thread that submitted it, and both are in one flow. Calls that waited for devices are markers,
// too.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "prof/report/output.h"

namespace prof {

class FirefoxMarkers {
 public:
  using Text =
      std::function<uint32_t(const std::string&)>;  // returns a string's number in the profile's table

  // Reads all launches and waits of the selected threads. Times are relative to `start_ns`.
  FirefoxMarkers(const CallTree& tree, uint64_t start_ns, const Text& text);

  // Write the values of the key "markerSchema", and of a thread's key "markers".
  static void write_schema(Output& out);
  void write(uint32_t profile, Output& out) const;

 private:
  enum class Kind : uint8_t { Task, Submission, Wait };
  struct Marker {
    Kind kind;
    uint32_t name;               // number of a string
    uint64_t begin_ns, end_ns;   // equal for a submission
    uint32_t thread, flow;       // of tasks: numbers of strings; kNone if not known
    uint64_t launch_latency_ns;  // of tasks, since their submission, and of waits
    uint64_t gap_ns, wake_latency_ns;
  };

  void read_launches(const std::vector<bool>& is_selected, const Text& text);
  void read_waits(const std::vector<bool>& is_selected, const Text& text);
  double milliseconds(uint64_t time_ns) const;
  void write_data(const Marker& marker, Output& out) const;

  const CallTree& tree_;
  const uint64_t start_ns_;
  std::map<uint32_t, std::vector<Marker>> markers_;  // by profile, sorted by their start
};

}  // namespace prof

#pragma once
// What devices executed, as markers of Firefox Profiler: each task on the track of its queue, the moment of
// its submission on that of the thread that submitted it, both in one flow, and the calls that waited for
// devices.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/views/call_tree.h"
#include "prof/report/output.h"

namespace prof {

class FirefoxMarkers {
 public:
  using Text = std::function<uint32_t(const std::string&)>;  // a string's number in the profile's table

  // Of the selected threads, times since `start_ns`. Reads all launches and waits.
  FirefoxMarkers(const CallTree& tree, uint64_t start_ns, const Text& text);

  // The values of the keys "markerSchema" and, of a thread, "markers".
  static void write_schema(Output& out);
  void write(uint32_t profile, Output& out) const;

 private:
  enum class Kind : uint8_t { Task, Submission, Wait };
  struct Marker {
    Kind kind;
    uint32_t name;               // number of a string
    uint64_t begin_ns, end_ns;   // of a submission the same
    uint32_t thread, flow;       // of tasks: numbers of strings; kNone: not known
    uint64_t launch_latency_ns;  // of tasks, from their submission, and of waits
    uint64_t gap_ns, wake_latency_ns;
  };

  void read_launches(const std::vector<bool>& is_selected, const Text& text);
  void read_waits(const std::vector<bool>& is_selected, const Text& text);
  double milliseconds(uint64_t time_ns) const;
  void write_data(const Marker& marker, Output& out) const;

  const CallTree& tree_;
  const uint64_t start_ns_;
  std::map<uint32_t, std::vector<Marker>> markers_;  // by profile, in order of their begin
};

}  // namespace prof

#pragma once
// The options of `prof run`, as typed on its command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prof/run/measuring_options.h"

namespace prof {

enum class DeviceTrace : uint8_t { Exact, Sampled };
enum class Aggregate : uint8_t { None, Node };

struct RunOptions {
  std::optional<int> pid;
  MeasuringOptions measuring;
  bool devices = true;
  DeviceTrace device_trace = DeviceTrace::Exact;
  std::string repair;   // as the user typed it; empty: no changes
  uint32_t verify = 0;  // pairs of runs; 0: none
  Aggregate aggregate = Aggregate::None;
  std::string ranks;  // ranks to measure, as the user typed them; empty: all
  std::vector<std::string> command;
};

}  // namespace prof

#pragma once
// Defines the metrics of wasted stores and loads. The analysis computes their values from the streams of
// waste in the measurement file (format.h). Values of the enum are part of the format: append only.

#include <cstdint>

#include "hpcrun/measurement/described_metric.h"

namespace hpcrun {

enum class WasteMetric : uint16_t {
  Written = 48,
  DeadWrite = 49,
  SilentWrite = 50,
  Loaded = 51,
  RedundantLoad = 52,
  Instructions = 53,
};

constexpr DescribedMetric<WasteMetric> kWasteMetrics[] = {
    {WasteMetric::Written, "WRITTEN", "bytes stored: all of them (prof exact), or those of sampled stores",
     "bytes", 1},
    {WasteMetric::DeadWrite, "DEAD_WRITE", "bytes stored that were overwritten before they were loaded",
     "bytes", 1},
    {WasteMetric::SilentWrite, "SILENT_WRITE",
     "bytes stored that were equal to those that the previous store had left there", "bytes", 1},
    {WasteMetric::Loaded, "LOADED", "bytes loaded: all of them (prof exact), or those of sampled loads",
     "bytes", 1},
    {WasteMetric::RedundantLoad, "REDUNDANT_LOAD",
     "bytes loaded that were equal to those that the previous load there had returned", "bytes", 1},
    {WasteMetric::Instructions, "INSTRUCTIONS", "instructions executed; exact", "count", 1},
};

}  // namespace hpcrun

#pragma once
// Every address that occurs in the measured call paths, attributed to source once, however many processes and
// threads it was seen in. A place is such an address: "module X, offset Y".

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/pipeline/pipeline.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

using PlaceId = uint32_t;

// One function of the inlined chain of a place; indices into the database's tables.
struct PlaceFrame {
  uint32_t function;
  uint32_t file;
  uint32_t line;
  bool inlined;
};

class Places {
 public:
  // Collects and attributes the addresses of all measurements; fills the database's modules, files and
  // functions.
  Places(const std::vector<ProcessMeasurement>& measurements, const AnalyzeOptions& options,
         Database& database, std::vector<std::string>& warnings);

  // The place of a frame in the given measurement, which must be one that was collected.
  PlaceId place(size_t measurement, uint64_t frame) const;

  // Outermost function first; never empty.
  std::span<const PlaceFrame> chain(PlaceId place) const {
    return std::span(frames_).subspan(first_[place], first_[place + 1] - first_[place]);
  }

 private:
  enum class ModuleKind : uint8_t {
    File,
    Jit,      // code that no file backs
    Unknown,  // the frame or its module was lost to damage
  };
  // A load module of any of the processes; the same file in several processes is one.
  struct Module {
    ModuleKind kind;
    ModuleIdentity identity;
    PerfMap perf_map;                 // for Jit
    std::vector<uint64_t> addresses;  // ascending, distinct
    size_t settled = 0;               // how many of them are already sorted
    PlaceId first_place = 0;
    uint32_t database_module = 0;
  };

  void collect(const std::vector<ProcessMeasurement>& measurements);
  uint32_t module_of(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map = {});
  uint32_t module_of_frame(uint64_t frame, const ProcessMeasurement& measurement, const std::string& host);
  static void settle(Module& module);
  static AttributedModule attribute(const Module& module, const AttributionOptions& options);
  void add(const Module& module, AttributedModule& attributed, Database& database);

  std::vector<Module> modules_;
  std::map<std::tuple<std::string, std::vector<uint8_t>, std::string>, uint32_t> by_identity_;
  std::vector<std::vector<uint32_t>> module_ids_;  // [measurement][module id in its frames] -> modules_
  uint32_t lost_ = 0;                              // the module of frames that were lost to damage
  std::vector<PlaceFrame> frames_;
  std::vector<uint32_t> first_ = {0};
  std::map<std::string, uint32_t> files_;
};

}  // namespace prof

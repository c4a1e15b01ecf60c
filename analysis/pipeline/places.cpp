#include "analysis/pipeline/places.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "analysis/attribution/demangle.h"
#include "analysis/attribution/perf_map.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

constexpr uint32_t kNoModule = UINT32_MAX;

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

// Of a frame whose module has no record.
uint32_t Places::module_of_frame(uint64_t frame, const ProcessMeasurement& measurement,
                                 const std::string& host) {
  const bool jit = hpcrun::frame_module(frame) == hpcrun::kModuleNone;
  return jit ? modules_.module(ModuleKind::Jit, {"[jit]", {}}, perf_map_of(measurement, host))
             : modules_.module(ModuleKind::Unknown, {"[unknown]", {}});
}

// Processes number names as they meet them; here the same name is one place.
uint64_t Places::name_of_frame(const ProcessMeasurement& measurement, uint64_t frame) {
  const auto [known, is_new] = name_of_frame_.back().try_emplace(frame, 0);
  if (!is_new) return known->second;
  const auto symbol = std::ranges::find(measurement.symbols, frame, &MeasuredSymbol::frame);
  const std::string name =
      symbol == measurement.symbols.end() || symbol->name.empty() ? "[unnamed task]" : demangle(symbol->name);
  const auto [at, added] = names_.try_emplace(name, names_.size());
  if (added) modules_.names().push_back(name);
  return known->second = at->second;
}

void Places::collect(const std::vector<ProcessMeasurement>& measurements) {
  const std::string host = this_host();
  lost_ = modules_.module(ModuleKind::Unknown, {"[unknown]", {}});
  device_ = modules_.module(ModuleKind::Device, {"[device]", {}});
  for (const ProcessMeasurement& measurement : measurements) {
    name_of_frame_.emplace_back();
    std::vector<uint32_t>& ids = module_ids_.emplace_back();
    for (const MeasuredModule& module : measurement.modules) {
      if (module.id >= ids.size()) ids.resize(module.id + size_t{1}, kNoModule);
      ids[module.id] = modules_.module(ModuleKind::File,
                                       {module.path, module.build_id, measurement.process.start_realtime_ns});
    }
    for (const MeasuredThread& thread : measurement.threads) {
      for (size_t node = 1; node < thread.nodes.size(); ++node) {
        const uint64_t frame = thread.nodes[node].frame;
        if (frame == kLostFrame) {
          modules_.need(lost_, frame);
          continue;
        }
        const uint16_t id = hpcrun::frame_module(frame);
        if (id == hpcrun::kModuleDevice) {
          modules_.need(device_, name_of_frame(measurement, frame));
          continue;
        }
        if (id >= ids.size()) ids.resize(id + size_t{1}, kNoModule);
        if (ids[id] == kNoModule) ids[id] = module_of_frame(frame, measurement, host);
        modules_.need(ids[id], hpcrun::frame_offset(frame));
      }
    }
    modules_.settle();
  }
}

Places::Places(const std::vector<ProcessMeasurement>& measurements, const AnalyzeOptions& options,
               Database& database, std::vector<std::string>& warnings) {
  collect(measurements);
  modules_.attribute(options.attribution, options.jobs, table_, database, warnings, options.progress);
}

PlaceId Places::place(size_t measurement, uint64_t frame) const {
  if (frame == kLostFrame) return modules_.place(lost_, frame);
  if (hpcrun::frame_module(frame) == hpcrun::kModuleDevice)
    return modules_.place(device_, name_of_frame_[measurement].at(frame));
  return modules_.place(module_ids_[measurement][hpcrun::frame_module(frame)], hpcrun::frame_offset(frame));
}

}  // namespace prof

#include "analysis/pipeline/places.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "analysis/pipeline/parallel.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

constexpr uint32_t kNoModule = UINT32_MAX;

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Compilers write the map of a process to /tmp. The process number means nothing on another host.
PerfMap perf_map_of(const ProcessMeasurement& measurement, const std::string& host) {
  const MeasuredProcess& process = measurement.process;
  if (process.host != host) return {};
  return {fmt::format("/tmp/perf-{}.map", process.pid), measurement.owner, process.start_realtime_ns};
}

}  // namespace

uint32_t Places::module_of(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map) {
  const auto [at, added] = by_identity_.try_emplace(
      {identity.path, identity.build_id, perf_map.path.string()}, static_cast<uint32_t>(modules_.size()));
  if (added) modules_.push_back({kind, identity, perf_map, {}, 0, 0, 0});
  uint64_t& start = modules_[at->second].identity.run_start_ns;
  start = std::min(start, identity.run_start_ns);
  return at->second;
}

// Of a frame whose module has no record.
uint32_t Places::module_of_frame(uint64_t frame, const ProcessMeasurement& measurement,
                                 const std::string& host) {
  const bool jit = hpcrun::frame_module(frame) == hpcrun::kModuleNone;
  return jit ? module_of(ModuleKind::Jit, {"[jit]", {}}, perf_map_of(measurement, host))
             : module_of(ModuleKind::Unknown, {"[unknown]", {}});
}

void Places::settle(Module& module) {
  std::vector<uint64_t>& addresses = module.addresses;
  if (addresses.size() == module.settled) return;
  const auto fresh = addresses.begin() + static_cast<ptrdiff_t>(module.settled);
  std::sort(fresh, addresses.end());
  std::inplace_merge(addresses.begin(), fresh, addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  module.settled = addresses.size();
}

void Places::collect(const std::vector<ProcessMeasurement>& measurements) {
  const std::string host = this_host();
  lost_ = module_of(ModuleKind::Unknown, {"[unknown]", {}});
  for (const ProcessMeasurement& measurement : measurements) {
    std::vector<uint32_t>& ids = module_ids_.emplace_back();
    for (const MeasuredModule& module : measurement.modules) {
      if (module.id >= ids.size()) ids.resize(module.id + size_t{1}, kNoModule);
      ids[module.id] =
          module_of(ModuleKind::File, {module.path, module.build_id, measurement.process.start_realtime_ns});
    }
    for (const MeasuredThread& thread : measurement.threads) {
      for (size_t node = 1; node < thread.nodes.size(); ++node) {
        const uint64_t frame = thread.nodes[node].frame;
        if (frame == kLostFrame) {
          modules_[lost_].addresses.push_back(frame);
          continue;
        }
        const uint16_t id = hpcrun::frame_module(frame);
        if (id >= ids.size()) ids.resize(id + size_t{1}, kNoModule);
        if (ids[id] == kNoModule) ids[id] = module_of_frame(frame, measurement, host);
        modules_[ids[id]].addresses.push_back(hpcrun::frame_offset(frame));
      }
    }
    std::ranges::for_each(modules_, settle);
  }
}

AttributedModule Places::attribute(const Module& module, const AttributionOptions& options) {
  if (module.kind == ModuleKind::File) return attribute_module(module.identity, module.addresses, options);
  if (module.kind == ModuleKind::Jit) return attribute_jit(module.perf_map, module.addresses);
  AttributedModule unknown;
  unknown.functions.push_back({module.identity.path, 0, kNoFile, 0});
  unknown.frames.resize(module.addresses.size());
  unknown.first.resize(module.addresses.size() + 1);
  std::iota(unknown.first.begin(), unknown.first.end(), 0u);
  return unknown;
}

void Places::add(const Module& module, AttributedModule& attributed, Database& database) {
  std::vector<uint32_t> files;
  for (std::string& path : attributed.files) {
    const auto [at, added] = files_.try_emplace(path, static_cast<uint32_t>(database.files.size()));
    if (added) database.files.push_back({path, false});
    files.push_back(at->second);
  }
  const auto file = [&](uint32_t index) { return index == kNoFile ? kNone : files[index]; };

  const auto first_function = static_cast<uint32_t>(database.functions.size());
  for (AttributedFunction& function : attributed.functions) {
    database.functions.push_back({std::move(function.name), module.database_module, function.offset,
                                  file(function.file), function.line});
  }
  for (size_t address = 0; address < module.addresses.size(); ++address) {
    for (const AttributedFrame& frame : attributed.chain(address)) {
      frames_.push_back({first_function + frame.function, file(frame.file), frame.line, frame.inlined});
    }
    first_.push_back(static_cast<uint32_t>(frames_.size()));
  }
}

Places::Places(const std::vector<ProcessMeasurement>& measurements, const AnalyzeOptions& options,
               Database& database, std::vector<std::string>& warnings) {
  collect(measurements);

  // The largest first, so that no thread ends up with it alone at the end.
  std::vector<size_t> order(modules_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return modules_[a].addresses.size() > modules_[b].addresses.size();
  });
  std::vector<AttributedModule> attributed(modules_.size());
  parallel_for(order.size(), options.jobs, [&](size_t i) {
    const Module& module = modules_[order[i]];
    if (module.addresses.empty()) return;
    attributed[order[i]] = attribute(module, options.attribution);
  });

  PlaceId next_place = 0;
  for (size_t i = 0; i < modules_.size(); ++i) {
    Module& module = modules_[i];
    if (module.addresses.empty()) continue;
    module.first_place = next_place;
    next_place += static_cast<PlaceId>(module.addresses.size());
    module.database_module = static_cast<uint32_t>(database.modules.size());
    database.modules.push_back({module.identity.path});
    add(module, attributed[i], database);
    std::ranges::move(attributed[i].warnings, std::back_inserter(warnings));
    attributed[i] = {};
  }
}

PlaceId Places::place(size_t measurement, uint64_t frame) const {
  if (frame == kLostFrame) return modules_[lost_].first_place;
  const Module& module = modules_[module_ids_[measurement][hpcrun::frame_module(frame)]];
  const auto at =
      std::lower_bound(module.addresses.begin(), module.addresses.end(), hpcrun::frame_offset(frame));
  return module.first_place + static_cast<PlaceId>(at - module.addresses.begin());
}

}  // namespace prof

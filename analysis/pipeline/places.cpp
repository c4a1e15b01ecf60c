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

// Returns the frames, ascending and distinct.
std::vector<uint64_t> frames_of(const ProcessMeasurement& measurement) {
  std::vector<uint64_t> frames;
  for (const MeasuredThread& thread : measurement.threads)
    for (size_t node = 1; node < thread.nodes.size(); ++node) frames.push_back(thread.nodes[node].frame);
  std::ranges::sort(frames);
  // Not ranges::unique(): clang 14, which builds the fuzz targets, cannot use its result.
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  return frames;
}

// Returns the names by frame.
std::unordered_map<uint64_t, std::string> task_names(const ProcessMeasurement& measurement,
                                                     const std::vector<uint64_t>& frames) {
  std::unordered_map<uint64_t, std::string> names;
  for (const uint64_t frame : frames) {
    if (hpcrun::frame_module(frame) != hpcrun::kModuleDevice) continue;
    const auto symbol = std::ranges::find(measurement.symbols, frame, &MeasuredSymbol::frame);
    names[frame] = symbol == measurement.symbols.end() || symbol->name.empty() ? "[unnamed task]"
                                                                               : demangle(symbol->name);
  }
  return names;
}

}  // namespace

// Returns the module of a frame whose module has no record.
uint32_t Places::module_of_frame(uint64_t frame, const ProcessMeasurement& measurement) {
  static const std::string host = this_host();
  const bool jit = frame != kLostFrame && hpcrun::frame_module(frame) == hpcrun::kModuleNone;
  return jit ? modules_.module(ModuleKind::Jit, {"[jit]", {}}, perf_map_of(measurement, host))
             : modules_.module(ModuleKind::Unknown, {"[unknown]", {}});
}

void Places::collect(size_t file, const ProcessMeasurement& measurement) {
  const std::vector<uint64_t> frames = frames_of(measurement);
  OfMeasurement known{{}, task_names(measurement, frames), {}};

  const std::lock_guard guard(lock_);
  for (const auto& [frame, name] : known.task_of) tasks_.try_emplace(name, 0);
  std::vector<uint32_t>& ids = known.modules;
  for (const MeasuredModule& module : measurement.modules) {
    if (module.id >= ids.size()) ids.resize(module.id + size_t{1}, kNoModule);
    ids[module.id] = modules_.module(
        ModuleKind::File, {module.path, module.build_id, measurement.process.start_realtime_ns, module.file});
  }
  for (const uint64_t frame : frames) {
    if (frame == kLostFrame) {
      modules_.need(module_of_frame(frame, measurement), frame);
      continue;
    }
    const uint16_t id = hpcrun::frame_module(frame);
    if (id == hpcrun::kModuleDevice) continue;
    if (id >= ids.size()) ids.resize(id + size_t{1}, kNoModule);
    if (ids[id] == kNoModule) ids[id] = module_of_frame(frame, measurement);
    modules_.need(ids[id], hpcrun::frame_offset(frame));
  }
  modules_.settle();
  if (measurements_.size() <= file) measurements_.resize(file + 1);
  measurements_[file] = std::move(known);
}

void Places::give(Packer& out) const {
  modules_.give(out);
  out(uint64_t{measurements_.size()});
  for (const OfMeasurement& known : measurements_) out(known.modules, known.task_of);
}

void Places::take(Unpacker& in) {
  const std::vector<uint32_t> here = modules_.take(in);
  const auto count = in.get<uint64_t>();
  for (size_t file = 0; file < count; ++file) {
    OfMeasurement known;
    in(known.modules, known.task_of);
    if (known.modules.empty() && known.task_of.empty()) continue;  // the other process did not read it
    for (uint32_t& module : known.modules)
      if (module != kNoModule) {
        Unpacker::require(module < here.size(), "it is of other modules");
        module = here[module];
      }
    for (const auto& [frame, name] : known.task_of) tasks_.try_emplace(name, 0);
    if (measurements_.size() <= file) measurements_.resize(file + 1);
    measurements_[file] = std::move(known);
  }
}

void Places::attribute(const AnalyzeOptions& options, Database& database,
                       std::vector<std::string>& warnings) {
  lost_ = modules_.module(ModuleKind::Unknown, {"[unknown]", {}});
  device_ = modules_.module(ModuleKind::Device, {"[device]", {}});
  for (auto& [name, number] : tasks_) {
    number = modules_.names().size();
    modules_.names().push_back(name);
    modules_.need(device_, number);
  }
  for (OfMeasurement& known : measurements_) {
    for (const auto& [frame, name] : known.task_of) known.task_numbers[frame] = tasks_.at(name);
    known.task_of.clear();
  }
  modules_.attribute(options.attribution, options.jobs, table_, database, warnings, options.progress,
                     *options.workers);
}

PlaceId Places::place(size_t file, uint64_t frame) const {
  if (frame == kLostFrame) return modules_.place(lost_, frame);
  const OfMeasurement& known = measurements_.at(file);
  if (hpcrun::frame_module(frame) == hpcrun::kModuleDevice)
    return modules_.place(device_, known.task_numbers.at(frame));
  return modules_.place(known.modules.at(hpcrun::frame_module(frame)), hpcrun::frame_offset(frame));
}

}  // namespace prof

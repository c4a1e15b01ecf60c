#include "analysis/pipeline/module_places.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "analysis/attribution/hex.h"
#include "analysis/attribution/own_runtime.h"
#include "analysis/pipeline/parallel.h"

namespace prof {

// Serialization for other processes (analysis/workers/packing.h).
template <typename Archive>
void fields(Archive& archive, ModuleIdentity& identity) {
  auto& [path, build_id, run_start_ns, file] = identity;
  archive(path, build_id, run_start_ns, file.device, file.inode, file.bytes);
}
template <typename Archive>
void fields(Archive& archive, PerfMap& map) {
  auto& [path, user, process_start_ns] = map;
  archive(path, user, process_start_ns);
}
template <typename Archive>
void fields(Archive& archive, AttributedFunction& function) {
  auto& [name, offset, file, line] = function;
  archive(name, offset, file, line);
}
template <typename Archive>
void fields(Archive& archive, AttributedModule& module) {
  auto& [files, functions, frames, first, warnings, build_id] = module;
  archive(files, functions, frames, first, warnings, build_id);
}

namespace {

// Validates the attribution that another process returned for `addresses` addresses.
void require_whole(const AttributedModule& module, size_t addresses) {
  const auto names_file = [&](uint32_t file) { return file == kNoFile || file < module.files.size(); };
  bool whole = module.first.size() == addresses + 1 && module.first.back() <= module.frames.size();
  for (size_t i = 0; whole && i < addresses; ++i) whole = module.first[i] < module.first[i + 1];
  for (const AttributedFunction& function : module.functions) whole = whole && names_file(function.file);
  for (const AttributedFrame& frame : module.frames) {
    uint8_t inlined;
    std::memcpy(&inlined, &frame.inlined, sizeof inlined);
    whole = whole && frame.function < module.functions.size() && names_file(frame.file) && inlined <= 1;
  }
  Unpacker::require(whole, "it is of other addresses");
}

}  // namespace

uint32_t ModulePlaces::module(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map) {
  // A build-id identifies the module on all hosts; device and inode numbers differ between hosts.
  const hpcrun::FileIdentity file = identity.build_id.empty() ? identity.file : hpcrun::FileIdentity{};
  const auto [at, added] =
      by_identity_.try_emplace({identity.path, identity.build_id, file, perf_map.path.string()},
                               static_cast<uint32_t>(modules_.size()));
  if (added) modules_.push_back({kind, identity, perf_map, {}, 0, 0, 0});
  uint64_t& start = modules_[at->second].identity.run_start_ns;
  start = std::min(start, identity.run_start_ns);
  return at->second;
}

void ModulePlaces::settle(Module& module) {
  std::vector<uint64_t>& addresses = module.addresses;
  if (addresses.size() == module.settled) return;
  const auto fresh = addresses.begin() + static_cast<ptrdiff_t>(module.settled);
  std::sort(fresh, addresses.end());
  std::inplace_merge(addresses.begin(), fresh, addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  module.settled = addresses.size();
}

void ModulePlaces::settle() {
  for (Module& module : modules_) settle(module);
}

void ModulePlaces::give(Packer& out) const {
  out(uint64_t{modules_.size()});
  for (const Module& module : modules_) out(module.kind, module.identity, module.perf_map, module.addresses);
}

std::vector<uint32_t> ModulePlaces::take(Unpacker& in) {
  assert(by_place_.empty());  // attribute() was not called yet
  std::vector<uint32_t> here;
  for (auto left = in.get<uint64_t>(); left > 0; --left) {
    const auto kind = in.get<ModuleKind>();
    Unpacker::require(kind <= ModuleKind::Unknown && kind != ModuleKind::Device, "it has unknown modules");
    const auto identity = in.get<ModuleIdentity>();
    here.push_back(module(kind, identity, in.get<PerfMap>()));
    std::ranges::move(in.get<std::vector<uint64_t>>(), std::back_inserter(modules_[here.back()].addresses));
  }
  settle();
  return here;
}

AttributedModule ModulePlaces::attribute_names(const std::vector<uint64_t>& numbers) const {
  AttributedModule attributed;
  for (const uint64_t number : numbers) {
    const auto function = static_cast<uint32_t>(attributed.functions.size());
    attributed.functions.push_back({names_[number], number, kNoFile, 0});
    attributed.first.push_back(function);
    attributed.frames.push_back({.function = function});
  }
  attributed.first.push_back(static_cast<uint32_t>(numbers.size()));
  return attributed;
}

AttributedModule ModulePlaces::attribute(const Module& module, const AttributionOptions& options) const {
  if (module.kind == ModuleKind::File) {
    AttributedModule attributed = attribute_module(module.identity, module.addresses, options);
    return is_own_runtime(module.identity.path) ? fold_own_functions(attributed, module.identity.path)
                                                : attributed;
  }
  if (module.kind == ModuleKind::Jit) return attribute_jit(module.perf_map, module.addresses);
  if (module.kind == ModuleKind::Device) return attribute_names(module.addresses);
  AttributedModule unknown;
  unknown.functions.push_back({module.identity.path, 0, kNoFile, 0});
  unknown.frames.resize(module.addresses.size());
  unknown.first.resize(module.addresses.size() + 1);
  std::iota(unknown.first.begin(), unknown.first.end(), 0u);
  return unknown;
}

void ModulePlaces::add(const Module& module, AttributedModule& attributed, PlaceTable& table,
                       Database& database) {
  assert(attributed.first.size() == module.addresses.size() + 1);
  std::vector<uint32_t> files;
  for (std::string& path : attributed.files) {
    const auto [at, added] = files_.try_emplace(path, static_cast<uint32_t>(database.files.size()));
    if (added) database.files.push_back({path, false});
    files.push_back(at->second);
  }
  const auto file = [&](uint32_t index) { return index == kNoFile ? kNone : files[index]; };

  const bool is_own = is_own_runtime(module.identity.path);
  const bool is_passed_over = is_allocator_front(module.identity.path);
  const auto first_function = static_cast<uint32_t>(database.functions.size());
  for (AttributedFunction& function : attributed.functions) {
    database.functions.push_back({std::move(function.name), module.database_module, function.offset,
                                  file(function.file), function.line});
    if (is_passed_over) table.pass_over(static_cast<uint32_t>(database.functions.size() - 1));
  }
  std::vector<PlaceFrame> chain;
  for (size_t address = 0; address < module.addresses.size(); ++address) {
    chain.clear();
    for (const AttributedFrame& frame : attributed.chain(address)) {
      const uint32_t function = first_function + frame.function;
      const bool is_folded = is_own && is_folded_function(database.functions[function].name);
      chain.push_back({function, file(frame.file), frame.line, frame.inlined, is_folded});
    }
    table.add(chain);
  }
}

void ModulePlaces::attribute(const AttributionOptions& options, int jobs, PlaceTable& table,
                             Database& database, std::vector<std::string>& warnings, const Progress& progress,
                             AnalysisWorkers& workers) {
  assert(by_place_.empty());
  settle();
  // Largest first, so that no thread is left alone with one at the end. Equal sizes are in the order of their
  // identity, which is the same in every process.
  std::vector<uint32_t> order;
  for (const auto& [identity, i] : by_identity_) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return modules_[i].addresses.size(); });
  const auto processes = static_cast<size_t>(workers.size()), first = static_cast<size_t>(workers.rank());
  const size_t own = (order.size() + processes - 1 - first) / processes;
  std::vector<AttributedModule> attributed(modules_.size());
  workers.share(
      "source",
      [&] {
        Stage reporter(progress, "finding source lines", own);
        parallel_for(own, jobs, [&](size_t i) {
          const uint32_t module = order[first + i * processes];
          if (!modules_[module].addresses.empty()) attributed[module] = attribute(modules_[module], options);
          reporter.add();
        });
      },
      [&](Packer& out) {
        for (size_t i = first; i < order.size(); i += processes) out(attributed[order[i]]);
      },
      [&](Unpacker& in, int rank) {
        for (auto i = static_cast<size_t>(rank); i < order.size(); i += processes) {
          AttributedModule& module = attributed[order[i]];
          in(module);
          const size_t addresses = modules_[order[i]].addresses.size();
          if (addresses != 0) require_whole(module, addresses);
        }
      });

  for (const auto& [identity, i] : by_identity_) {
    Module& module = modules_[i];
    if (module.addresses.empty()) continue;
    module.first_place = static_cast<PlaceId>(table.size());
    module.database_module = static_cast<uint32_t>(database.modules.size());
    by_place_.push_back(i);
    const std::vector<uint8_t>& measured = module.identity.build_id;
    database.modules.push_back(
        {module.identity.path, hex(measured.empty() ? attributed[i].build_id : measured)});
    add(module, attributed[i], table, database);
    std::ranges::move(attributed[i].warnings, std::back_inserter(warnings));
    attributed[i] = {};
  }
}

std::optional<ModulePlaces::Code> ModulePlaces::code_at(PlaceId place) const {
  const auto behind = std::ranges::upper_bound(by_place_, place, {},
                                               [&](uint32_t module) { return modules_[module].first_place; });
  if (behind == by_place_.begin()) return {};
  const Module& module = modules_[*std::prev(behind)];
  if (module.kind != ModuleKind::File) return {};
  return Code{module.database_module, module.addresses[place - module.first_place]};
}

PlaceId ModulePlaces::place(uint32_t module, uint64_t address) const {
  const Module& found = modules_.at(module);
  assert(found.settled == found.addresses.size());  // none was requested after attribute()
  const auto at = std::lower_bound(found.addresses.begin(), found.addresses.end(), address);
  if (at == found.addresses.end() || *at != address)
    throw std::out_of_range("an address that was not needed");
  return found.first_place + static_cast<PlaceId>(at - found.addresses.begin());
}

}  // namespace prof

#include "analysis/pipeline/module_places.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "analysis/attribution/hex.h"
#include "analysis/pipeline/parallel.h"

namespace prof {

uint32_t ModulePlaces::module(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map) {
  const auto [at, added] = by_identity_.try_emplace(
      {identity.path, identity.build_id, perf_map.path.string()}, static_cast<uint32_t>(modules_.size()));
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
  if (module.kind == ModuleKind::File) return attribute_module(module.identity, module.addresses, options);
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
  std::vector<PlaceFrame> chain;
  for (size_t address = 0; address < module.addresses.size(); ++address) {
    chain.clear();
    for (const AttributedFrame& frame : attributed.chain(address))
      chain.push_back({first_function + frame.function, file(frame.file), frame.line, frame.inlined});
    table.add(chain);
  }
}

void ModulePlaces::attribute(const AttributionOptions& options, int jobs, PlaceTable& table,
                             Database& database, std::vector<std::string>& warnings,
                             const Progress& progress) {
  settle();
  // The largest first, so that no thread ends up with it alone at the end.
  std::vector<size_t> order(modules_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return modules_[a].addresses.size() > modules_[b].addresses.size();
  });
  std::vector<AttributedModule> attributed(modules_.size());
  std::atomic<size_t> done{0};
  parallel_for(order.size(), jobs, [&](size_t i) {
    if (progress) progress("finding source lines", done++, order.size());
    const Module& module = modules_[order[i]];
    if (module.addresses.empty()) return;
    attributed[order[i]] = attribute(module, options);
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
  const Module& found = modules_[module];
  const auto at = std::lower_bound(found.addresses.begin(), found.addresses.end(), address);
  return found.first_place + static_cast<PlaceId>(at - found.addresses.begin());
}

}  // namespace prof

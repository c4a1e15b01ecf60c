#include "analysis/pipeline/known_data.h"

#include <algorithm>
#include <bit>

namespace prof {
namespace {

// Returns 0, the root, if the thread is lost.
uint32_t context_of(const MeasuredObject& object, std::span<const ThreadInDatabase> threads) {
  const auto maker = std::ranges::find_if(
      threads, [&](const ThreadInDatabase& thread) { return thread.thread->index == object.thread; });
  return maker == threads.end() || object.node >= maker->context_of.size() ? 0
                                                                           : maker->context_of[object.node];
}

}  // namespace

void KnownData::add(std::span<const MeasuredObject> allocations, std::span<const ThreadInDatabase> threads) {
  std::map<uint32_t, uint32_t> sites;
  for (const MeasuredObject& object : allocations) {
    DataObject made;
    made.kind = ObjectKind::Heap;
    made.begin = object.begin;
    made.bytes = object.bytes;
    made.born_ns = object.born_ns;
    made.align = std::has_single_bit(object.align) ? object.align : 1;
    if (object.died_ns) made.died_ns = object.died_ns;
    const uint32_t context = context_of(object, threads);
    const auto [site, is_new] = sites.try_emplace(context, next_site_);
    if (is_new) ++next_site_;
    made.site = site->second;
    allocated_in_[static_cast<uint32_t>(objects_.size())] = context;
    allocations_[static_cast<uint32_t>(objects_.size())] = &object;
    by_id_[object.id] = static_cast<uint32_t>(objects_.size());
    objects_.push_back(made);
  }
}

std::optional<uint32_t> KnownData::allocated_in(uint32_t object) const {
  const auto known = allocated_in_.find(object);
  return known == allocated_in_.end() ? std::nullopt : std::optional(known->second);
}

const MeasuredObject* KnownData::allocation(uint32_t object) const {
  const auto known = allocations_.find(object);
  return known == allocations_.end() ? nullptr : known->second;
}

ModuleAddress KnownData::place_of(uint32_t object) const {
  const auto known = variables_.find(object);
  return known == variables_.end() ? ModuleAddress{} : in_module(known->second.begin);
}

ModuleAddress KnownData::in_module(uint64_t address) const {
  const auto module = std::ranges::find_if(process_.modules, [address](const ModuleInMemory& one) {
    return address >= one.start && address < one.end;
  });
  if (module == process_.modules.end() || !module->identity.path.starts_with('/')) return {};
  return {module->identity.path, module->identity.build_id, address - module->bias};
}

uint32_t KnownData::object_of(const MeasuredAccess& access) {
  if (access.object) {
    const auto known = by_id_.find(access.object - 1);
    return known == by_id_.end() ? kNoObject : known->second;
  }
  return variable_at(access.address);
}

uint32_t KnownData::variable_at(uint64_t address) {
  const VariableInMemory found = known_.find(address);
  if (!found.variable) return kNoObject;
  const auto [known, added] =
      by_variable_.try_emplace(found.variable, static_cast<uint32_t>(objects_.size()));
  if (added) {
    DataObject made;
    made.begin = found.begin;
    made.bytes = found.variable->bytes;
    made.site = next_site_++;
    objects_.push_back(made);
    variables_[known->second] = found;
  }
  return known->second;
}

const Variable* KnownData::variable_of(uint32_t object) const {
  const auto known = variables_.find(object);
  return known == variables_.end() ? nullptr : known->second.variable;
}

uint32_t KnownData::main_object(const ContendedData& found) const {
  uint32_t first = kNoObject;
  for (const ContentionSide& side : found.sides) {
    if (!variable_of(side.object)) continue;
    if (first == kNoObject || objects_[side.object].begin < objects_[first].begin) first = side.object;
  }
  if (first != kNoObject) return first;
  return found.objects.empty() ? kNoObject : found.objects.front();
}

std::vector<DataPart> KnownData::parts(uint32_t object, uint64_t from, uint64_t to) const {
  const auto known = variables_.find(object);
  if (known == variables_.end()) return {};
  return known->second.variables->parts(*known->second.variable, from, to);
}

TypedObjects KnownData::typed(std::span<const uint32_t> objects) const {
  TypedObjects typed;
  for (const uint32_t object : objects) {
    const auto known = variables_.find(object);
    if (known == variables_.end()) continue;
    const auto& [variable, variables, begin] = known->second;
    typed[object] = {variable->name, variable->file, variable->line, begin,
                     variables->type_tree(*variable).value_or(TypeTree{})};
  }
  return typed;
}

}  // namespace prof

#include "hpcrun/heap/allocation_contexts.h"

#include <cstring>

#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

constexpr uint64_t kStackPage = 4096;

uint64_t word_at(uint64_t address) noexcept {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

uint64_t mix(uint64_t x) noexcept {
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

uint64_t key_of(uint64_t path, uint64_t bytes) noexcept {
  return mix(path ^ bytes * 0x9e3779b97f4a7c15u);
}

}  // namespace

// If the stack is not the thread's own, only the page of the return address is known to exist.
AllocationCall call_at(const void* frame, const StackBounds& stack) noexcept {
  const auto at = reinterpret_cast<uint64_t>(frame);
  const uint64_t caller = at - sizeof(uint64_t);
  const bool is_own = at >= stack.low && at < stack.high;
  return {word_at(caller), at, is_own ? stack.high : (caller | (kStackPage - 1)) + 1};
}

SiteId LateSites::find(uint64_t path, uint64_t bytes) const noexcept {
  const uint64_t key = key_of(path, bytes);
  const uint64_t found = places_[key % kPlaces].load(std::memory_order_relaxed);
  return (found ^ key) >> kSiteBits ? kNoSite : static_cast<SiteId>(found);
}

void LateSites::keep(uint64_t path, uint64_t bytes, SiteId site) noexcept {
  const uint64_t key = key_of(path, bytes);
  places_[key % kPlaces].store(key >> kSiteBits << kSiteBits | site, std::memory_order_relaxed);
}

uint32_t AllocationContexts::set_of(const AllocationCall& call) noexcept {
  uint64_t key = mix(call.caller) ^ call.frame;
  const Caller& known = caller_of(call.caller);
  if (known.address == call.caller && call.frame + known.next + sizeof(uint64_t) <= call.limit)
    key = mix(key) ^ word_at(call.frame + known.next);
  return static_cast<uint32_t>(mix(key) >> (64 - kSetBits));
}

AllocationContext* AllocationContexts::find(const AllocationCall& call) noexcept {
  const uint32_t set = set_of(call);
  if (!is_used(set)) return nullptr;
  const uint32_t generation = walk_generation();
  for (AllocationContext& known : contexts_[set]) {
    if (known.caller_ != call.caller || known.frame_ != call.frame || known.generation_ != generation)
      continue;
    uint32_t same = 0;
    while (same < known.words_ && word_at(call.frame + known.offsets_[same]) == known.values_[same]) ++same;
    if (same == known.words_) return &known;
  }
  return nullptr;
}

AllocationContext& AllocationContexts::add(const AllocationCall& call, uint64_t path, NodeId node,
                                           const PlanEntries& planned) noexcept {
  AllocationContext made{};
  for (uint32_t i = 0; i < record.count && made.words_ < AllocationContext::kWords; ++i) {
    const WalkedWord& word = record.words[i];
    const uint64_t at = record.origin.sp + word.offset;
    if (!word.is_return || at < call.frame || at + sizeof(uint64_t) > call.limit) continue;
    made.offsets_[made.words_] = static_cast<uint32_t>(at - call.frame);
    made.values_[made.words_++] = word.value;
  }
  if (made.words_ > 0) caller_of(call.caller) = {call.caller, made.offsets_[0]};
  const uint32_t set = set_of(call);
  used_[set / 64] |= uint64_t{1} << set % 64;
  AllocationContext& place = contexts_[set][oldest_[set]++ % kWays];
  place.caller_ = call.caller;
  place.frame_ = call.frame;
  place.path_ = path;
  std::memcpy(place.values_, made.values_, sizeof place.values_);
  std::memcpy(place.offsets_, made.offsets_, sizeof place.offsets_);
  place.words_ = made.words_;
  place.generation_ = record.generation;
  place.node_ = node;
  place.planned_ = planned;
  return place;
}

}  // namespace hpcrun

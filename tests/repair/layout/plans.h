#pragma once
// Repair plans for tests and fuzzing.

#include <cstring>
#include <vector>

#include "hpcrun/measurement/repair_plan.h"

namespace prof::test {

// Aligned to 8 bytes, like a mapped file.
class PlanBytes {
 public:
  void append(const void* from, size_t bytes) {
    words_.resize((size_ + bytes + 7) / 8);
    if (bytes) std::memcpy(data() + size_, from, bytes);
    size_ += bytes;
  }
  char* data() { return reinterpret_cast<char*>(words_.data()); }
  const char* data() const { return reinterpret_cast<const char*>(words_.data()); }
  size_t size() const { return size_; }

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

inline PlanBytes plan_of(const std::vector<hpcrun::PlanEntry>& entries,
                         const std::vector<hpcrun::PlanFrame>& frames,
                         const std::vector<hpcrun::PlanModule>& modules) {
  hpcrun::PlanHeader header{};
  std::memcpy(header.magic, hpcrun::kRepairPlanMagic, sizeof header.magic);
  header.entry_count = static_cast<uint32_t>(entries.size());
  header.frame_count = static_cast<uint32_t>(frames.size());
  header.module_count = static_cast<uint32_t>(modules.size());
  PlanBytes plan;
  plan.append(&header, sizeof header);
  plan.append(entries.data(), entries.size() * sizeof entries[0]);
  plan.append(frames.data(), frames.size() * sizeof frames[0]);
  plan.append(modules.data(), modules.size() * sizeof modules[0]);
  return plan;
}

inline std::vector<hpcrun::PlanEntry> entries() {
  using hpcrun::PlanKind;
  return {{PlanKind::Place, 0, 2, 64, 16, 64, 40, 48},
          {PlanKind::SiteLocks, 0, 1, 0, 0, 0, 1, 4096},
          {PlanKind::GlobalLocks, 1, 1, 0, 0, 0, 128, 128}};
}

inline std::vector<hpcrun::PlanFrame> frames() {
  return {{0, 0, 0x1111}, {1, 0, 0x2222}};
}

inline std::vector<hpcrun::PlanModule> modules() {
  return {{4, {1, 2, 3, 4}, "/bin/app"}, {0, {}, "/lib/plain.so"}};
}

inline PlanBytes a_plan() {
  return plan_of(entries(), frames(), modules());
}

}  // namespace prof::test

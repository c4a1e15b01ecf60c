#pragma once
// The section of profile.db that identifies the rank, thread or queue of each profile.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analysis/database/format.h"
#include "analysis/database/model.h"
#include "analysis/database/output.h"

namespace prof {

// Returns the number that identifies a node in the format. The name is in run.json.
inline uint32_t host_id(std::string_view host) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : host) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

class IdentifierTuples {
 public:
  // Adds a tuple. Returns its offset in bytes().
  uint64_t add(const ProfileId& id) {
    const uint64_t offset = bytes_.size();
    const size_t count_at = bytes_.size();
    uint16_t count = 0;
    bytes_.put_zeros(8);
    const auto put = [&](format::IdentifierKind kind, uint16_t flags, uint32_t logical, uint64_t physical) {
      bytes_.put<uint8_t>(kind);
      bytes_.put<uint8_t>(0);
      bytes_.put(flags);
      bytes_.put(logical);
      bytes_.put(physical);
      ++count;
    };
    const auto put_logical = [&](format::IdentifierKind kind, int32_t value) {
      if (value >= 0) put(kind, 0, static_cast<uint32_t>(value), static_cast<uint64_t>(value));
    };
    if (!id.host.empty()) {
      const auto node = nodes_.try_emplace(id.host, static_cast<uint32_t>(nodes_.size())).first;
      put(format::Node, format::kPhysicalIdentifier, node->second, host_id(id.host));
    }
    put_logical(format::Rank, id.rank);
    put_logical(format::Process, id.process);
    put_logical(format::Thread, id.thread);
    put_logical(format::GpuDevice, id.device);
    put_logical(format::GpuStream, id.queue);
    bytes_.patch(count_at, count);
    return offset;
  }
  std::string_view bytes() const { return bytes_.view(); }

 private:
  OutputBuffer bytes_;
  std::map<std::string, uint32_t> nodes_;
};

}  // namespace prof

#include "hpcrun/cct/access_stream.h"

#include <algorithm>

#include "hpcrun/cct/interval_stream.h"

namespace hpcrun {

struct AccessStream::State : IntervalStream {};

bool AccessStream::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  state_ = make_interval_stream<State>(file, arena, StreamKind::Accesses, thread);
  return state_ != nullptr;
}

bool AccessStream::append(const AccessRecord& access, NodeId node) noexcept {
  const uint64_t end = quanta(access.time_ns);
  const uint64_t begin = end - std::min(end, quanta(access.weight_ns));
  if (state_ == nullptr || !state_->make_room(begin)) return false;
  state_->append({state_->begin_delta(begin), end - begin, access.address,
                  access.bytes * kAccessBits | access.bits, access.object, state_->node_delta(node)},
                 end, node);
  return true;
}

bool AccessStream::append(const AccessRecord& access, const HardwareAccess& hardware, NodeId node) noexcept {
  const AccessRecord from_hardware{access.time_ns, 0, hardware.period, hardware.load_bits, kAccessHardware,
                                   hardware.cycles};
  return append(from_hardware, node) && append(access, node);
}

void AccessStream::seal() noexcept {
  if (state_ != nullptr) state_->seal();
}

}  // namespace hpcrun

#pragma once
// Determines what a copy or a fill moves, from the arguments of the driver's function.

#include <cstdint>

#include "hpcrun/device/cuda/api.h"
#include "hpcrun/device/engine.h"

namespace hpcrun::cuda {

struct Extent {
  TaskKind kind;
  uint64_t bytes;
};

// True if the memory is the host's, according to the driver. Memory that is unknown to the driver is the
// program's own.
bool is_on_host(CUdeviceptr memory) noexcept;

inline TaskKind direction(bool from_host, bool to_host) noexcept {
  if (from_host == to_host) return TaskKind::CopyOnDevice;
  return from_host ? TaskKind::CopyToDevice : TaskKind::CopyFromDevice;
}

inline bool is_host_side(CUmemorytype type, CUdeviceptr memory) noexcept {
  return type == CU_MEMORYTYPE_HOST || (type == CU_MEMORYTYPE_UNIFIED && is_on_host(memory));
}

inline bool is_host_side(const CUmemcpy3DOperand& side) noexcept {
  return side.type == CU_MEMCPY_OPERAND_TYPE_POINTER && is_on_host(side.op.ptr.ptr);
}

// Returns the extent for a function with these arguments. The kind is valid for copies whose function does
// not determine it.
template <typename Arguments>
Extent extent_of(const void* raw) noexcept {
  const auto& call = *static_cast<const Arguments*>(raw);
  if constexpr (requires { call.src, call.dst, call.ByteCount; }) {
    return {direction(is_on_host(call.src), is_on_host(call.dst)), call.ByteCount};
  } else if constexpr (requires { call.ByteCount; }) {
    return {TaskKind::CopyOnDevice, call.ByteCount};
  } else if constexpr (requires { call.pCopy->WidthInBytes; }) {
    const auto& copy = *call.pCopy;
    uint64_t bytes = uint64_t{copy.WidthInBytes} * copy.Height;
    if constexpr (requires { copy.Depth; }) bytes *= copy.Depth;
    return {direction(is_host_side(copy.srcMemoryType, copy.srcDevice),
                      is_host_side(copy.dstMemoryType, copy.dstDevice)),
            bytes};
  } else if constexpr (requires { call.sizes, call.count; }) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < call.count; ++i) bytes += call.sizes[i];
    return {
        call.count ? direction(is_on_host(call.srcs[0]), is_on_host(call.dsts[0])) : TaskKind::CopyOnDevice,
        bytes};
  } else if constexpr (requires { call.opList, call.numOps; }) {
    // The size of an element is not known.
    return {call.numOps ? direction(is_host_side(call.opList[0].src), is_host_side(call.opList[0].dst))
                        : TaskKind::CopyOnDevice,
            0};
  } else {
    return {TaskKind::CopyOnDevice, 0};
  }
}

}  // namespace hpcrun::cuda

// Work for the device: kernels, copies, fills, graphs; and memory.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fake_device.h"

using namespace fake;

namespace {

constexpr uint64_t kAllocationNs = 400'000;
constexpr uint64_t kFreeNs = 600'000;

// Copies as much as programs read. A device does not occupy the caller for a copy.
void move(CUdeviceptr to, const void* from, size_t bytes) {
  memcpy(reinterpret_cast<void*>(to), from, std::min<size_t>(bytes, 4096));
}

uint64_t copy(CUstream stream, uint8_t kind, uint64_t bytes) {
  return submit(stream, {Kind::Copy, "", kind, bytes, 0, 0, 0, 0, 0}, 5'000 + bytes / 10);
}

}  // namespace

extern "C" {

// The first parameter of every kernel is its length in nanoseconds.
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  const cuLaunchKernel_params arguments{function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra};
  return driver_call(
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", &arguments,
      [&]() -> int {
        if (gx == 0) return CUDA_ERROR_INVALID_VALUE;
        submit(stream, {Kind::Kernel, function->name, 0, 0, 0, 0, 0, 0, 0},
               *static_cast<const uint64_t*>(parameters[0]));
        return CUDA_SUCCESS;
      },
      function->name.c_str());
}

CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
  FAKE_CALL(cuMemAlloc_v2, memory, bytes) {
    *memory = reinterpret_cast<CUdeviceptr>(malloc(bytes));
    work_for(kAllocationNs);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemFree_v2(CUdeviceptr memory) {
  FAKE_CALL(cuMemFree_v2, memory) {
    wait_until(end_of_all());
    work_for(kFreeNs);
    free(reinterpret_cast<void*>(memory));
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  FAKE_CALL(cuMemcpyHtoD_v2, to, from, bytes) {
    move(to, from, bytes);
    wait_until(copy(nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, bytes));
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  FAKE_CALL(cuMemcpyDtoH_v2, to, from, bytes) {
    const uint64_t end = bytes ? copy(nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, bytes) : end_of_all();
    wait_until(end);
    memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  FAKE_CALL(cuMemHostAlloc, memory, bytes, flags) {
    *memory = malloc(bytes);
    const std::lock_guard lock(driver().mutex);
    driver().pinned.push_back(*memory);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
// Returns nothing about memory that the driver did not allocate.
CUresult cuPointerGetAttribute(void* out, CUpointer_attribute, CUdeviceptr memory) {
  const std::lock_guard lock(driver().mutex);
  if (std::ranges::count(driver().pinned, reinterpret_cast<void*>(memory)) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *static_cast<CUmemorytype*>(out) = CU_MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemcpyHtoDAsync_v2, to, from, bytes, stream) {
    move(to, from, bytes);
    CUmemorytype type{};
    const uint64_t end = copy(stream, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, bytes);
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(from)) !=
        CUDA_SUCCESS)
      wait_until(end);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemcpyAsync, to, from, bytes, stream) {
    move(to, reinterpret_cast<const void*>(from), bytes);
    copy(stream, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, bytes);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemsetD8Async, to, value, bytes, stream) {
    memset(reinterpret_cast<void*>(to), value, bytes);
    submit(stream, {Kind::Fill, "", 0, bytes, 0, 0, 0, 0, 0}, 5'000 + bytes / 100);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  FAKE_CALL(cuGraphInstantiateWithFlags, made, graph, flags) {
    *made = new CUgraphExec_st{*graph};
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  for (size_t i = 0; nodes && i < *count; ++i) nodes[i] = &graph->nodes[i];
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}
const char* fake_node_name(CUgraphNode node) {
  return node->name.c_str();
}
CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType* type) {
  *type = CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph*) {
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  FAKE_CALL(cuGraphLaunch, graph, stream) {
    uint64_t number = 0;
    for (const CUgraphNode_st& node : graph->graph.nodes)
      submit(stream, {Kind::Kernel, node.name, 0, 0, 0, 0, 0, 0, ++number}, node.length);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}

}  // extern "C"

#include "hpcrun/device/cuda/extents.h"

namespace hpcrun::cuda {

bool is_on_host(CUdeviceptr memory) noexcept {
  CUmemorytype type{};
  return driver.pointer_attribute &&
         (driver.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory) != CUDA_SUCCESS ||
          type == CU_MEMORYTYPE_HOST);
}

}  // namespace hpcrun::cuda

#pragma once
// The functions that the program gets in the place of OpenCL's: wrap::clFinish for clFinish and so on. Each
// returns what OpenCL's returned. Not async-signal-safe, as OpenCL is not.

#include <type_traits>

#include "hpcrun/device/opencl/api.h"

namespace hpcrun::opencl::wrap {

#define HPCRUN_OPENCL_WRAPPER(name) std::remove_pointer_t<decltype(cl_icd_dispatch::name)> name;
HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_WRAPPER)
#undef HPCRUN_OPENCL_WRAPPER

}  // namespace hpcrun::opencl::wrap

#pragma once
// Declares the functions that replace OpenCL's for the program: wrap::clFinish for clFinish and so on. Each
// returns what OpenCL's function returned. Not async-signal-safe, as OpenCL is not.

#include <type_traits>

#include "hpcrun/device/opencl/api.h"

namespace hpcrun::opencl::wrap {

#define HPCRUN_OPENCL_WRAPPER(name) std::remove_pointer_t<decltype(cl_icd_dispatch::name)> name;
HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_WRAPPER)
#undef HPCRUN_OPENCL_WRAPPER

}  // namespace hpcrun::opencl::wrap

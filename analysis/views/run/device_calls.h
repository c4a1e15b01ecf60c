#pragma once
// Recognises the functions of device APIs, and has advice for those that keep a device idle.

#include <string_view>

namespace prof {

// True for functions of OpenCL and CUDA ("clFinish", "cudaMemcpy", "cuLaunchKernel"), and for the C++
// wrappers of OpenCL.
bool is_device_call(std::string_view function);

struct CallAdvice {
  std::string_view does;  // "synchronizes"; completes the sentence "FUNCTION called from X ..."
  std::string_view advice;
};
// For functions for which is_device_call() holds.
CallAdvice advice_for_call(std::string_view function);

}  // namespace prof

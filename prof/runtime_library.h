#pragma once
#include <filesystem>

namespace prof {

// libhpcrun.so beside this `prof`, in the build folder or an installation. Throws CommandError (125).
std::filesystem::path find_runtime_library();

}  // namespace prof

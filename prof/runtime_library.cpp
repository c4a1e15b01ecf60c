#include "prof/runtime_library.h"

#include "prof/message.h"

namespace prof {

std::filesystem::path find_runtime_library() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {"lib", PROF_LIBRARY_FOLDER}) {
    const fs::path library = prefix / folder / "libhpcrun.so";
    if (fs::exists(library, error)) return library;
  }
  fail(kOwnFailure, "libhpcrun.so is not in {}; build or install prof as a whole", (prefix / "lib").string());
}

}  // namespace prof

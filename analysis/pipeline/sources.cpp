#include "analysis/pipeline/sources.h"

#include <filesystem>

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kMaxSource = 4u << 20;  // generated code is larger, and not meant to be read

}  // namespace

void mark_sources(std::vector<SourceFile>& files) {
  for (SourceFile& file : files) {
    const fs::path path = fs::path(file.path).lexically_normal();
    std::error_code error;
    if (!path.is_absolute() || !fs::is_regular_file(path, error)) continue;
    const uintmax_t bytes = fs::file_size(path, error);
    if (error || bytes > kMaxSource) continue;
    file.path = path.string();
    file.copied = true;
  }
}

}  // namespace prof

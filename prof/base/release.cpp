#include "prof/base/release.h"

#include <fmt/format.h>

#include "build_info.h"

namespace prof {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

// Parses the list that CMake made when it configured: "name: state;name: state".
std::vector<OptionalPart> optional_parts() {
  std::vector<OptionalPart> parts;
  const std::string text = kOptionalParts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (const size_t colon = line.find(": "); colon != std::string::npos)
      parts.push_back({line.substr(0, colon), line.substr(colon + 2)});
    at = end + 1;
  }
  return parts;
}

}  // namespace

const Release& this_release() {
  static const Release release{PROF_VERSION, kCommit, kCompiler, kBuildType, optional_parts()};
  return release;
}

std::string short_version() {
  const Release& release = this_release();
  return fmt::format("prof {} ({}), {}", release.version, release.commit, release.compiler);
}

}  // namespace prof

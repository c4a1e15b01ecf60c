#pragma once
// The version of this `prof`, and what it was built with.

#include <string>
#include <vector>

namespace prof {

struct OptionalPart {
  std::string name;
  std::string state;  // "found Qt 6.4.2", "missing (install qt6-base-dev), built without", ...
};

struct Release {
  std::string version;  // "0.1.0"
  std::string commit;
  std::string compiler;    // "GCC 12.2.0"
  std::string build_type;  // CMake's
  std::vector<OptionalPart> parts;
};

const Release& this_release();

std::string short_version();  // "prof 0.1.0 (1ec50c4), GCC 12.2.0"

}  // namespace prof

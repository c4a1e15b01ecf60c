#pragma once
// Reads the dump that the Valgrind tool of `prof exact` leaves when a process ends
// (exact/valgrind/dump_format.h). Input is untrusted; every index is validated.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exact/valgrind/dump_format.h"

namespace prof {

// States what is wrong with a dump.
class DumpError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ExactDump {
  PeDumpHeader header{};
  std::vector<PeDumpModule> modules;
  std::vector<PeDumpThread> threads;
  std::vector<PeDumpContext> contexts;  // [id - 1]
  std::vector<PeDumpAccess> accesses;
  std::vector<PeDumpPair> pairs;
  std::string strings;

  // `offset`: of a string, as in the tables.
  const char* text(uint32_t offset) const { return strings.c_str() + offset; }
};

// Throws DumpError if the bytes are not a complete and consistent dump.
ExactDump read_exact_dump(std::string_view bytes);

}  // namespace prof

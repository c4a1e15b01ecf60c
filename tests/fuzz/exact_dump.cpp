// libFuzzer entry: arbitrary bytes as a dump of the Valgrind tool of `prof exact`. What is read leads nowhere
// but into the dump.

#include <cstdlib>
#include <string_view>

#include "prof/exact/dump.h"
#include "prof/exact/valgrind_log.h"

using namespace prof;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check(const ExactDump& dump) {
  for (const PeDumpModule& module : dump.modules) check(*dump.text(module.path) || true);
  for (size_t i = 0; i < dump.contexts.size(); ++i)
    check(dump.contexts[i].parent <= i && dump.contexts[i].thread < dump.threads.size());
  for (const PeDumpAccess& access : dump.accesses) {
    check(access.context - 1 < dump.contexts.size());
    check(access.module <= dump.modules.size());
  }
  for (const PeDumpPair& pair : dump.pairs) {
    check(pair.first < dump.accesses.size() && pair.second < dump.accesses.size());
    check(pair.allocation <= dump.contexts.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    check(read_exact_dump(bytes));
  } catch (const DumpError& error) {
    check(*error.what() != '\0');
  }
  if (const auto problem = problem_in_valgrind_log(bytes)) check(problem->find('\n') == std::string::npos);
  return 0;
}

#pragma once
// Makes dumps as the Valgrind tool of `prof exact` writes them. For tests and the fuzzer's seeds.

#include <string>

#include "exact/valgrind/dump_format.h"
#include "prof/exact/dump.h"

namespace prof::test {

// Returns the bytes of a dump. Counts of tables are those of its vectors.
std::string bytes_of(const ExactDump& dump);

// Two threads, of which main started the other: a dead store of main that the other overwrites, a silent
// store, a redundant load, an instruction that was executed 1,000 times.
ExactDump synthetic_dump();

}  // namespace prof::test

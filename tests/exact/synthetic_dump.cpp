#include "tests/exact/synthetic_dump.h"

#include <cstring>
#include <type_traits>

namespace prof::test {

namespace {

template <typename Record>
void append(std::string& bytes, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

template <typename Record>
void append_all(std::string& bytes, const std::vector<Record>& records) {
  for (const Record& record : records) append(bytes, record);
}

}  // namespace

std::string bytes_of(const ExactDump& dump) {
  PeDumpHeader header = dump.header;
  header.modules = dump.modules.size();
  header.threads = dump.threads.size();
  header.contexts = dump.contexts.size();
  header.accesses = dump.accesses.size();
  header.pairs = dump.pairs.size();
  header.string_bytes = dump.strings.size();
  std::string bytes;
  append(bytes, header);
  append_all(bytes, dump.modules);
  append_all(bytes, dump.threads);
  append_all(bytes, dump.contexts);
  append_all(bytes, dump.accesses);
  append_all(bytes, dump.pairs);
  return bytes + dump.strings;
}

ExactDump synthetic_dump() {
  ExactDump dump;
  std::memcpy(dump.header.magic, PE_DUMP_MAGIC, sizeof dump.header.magic);
  dump.header.version = PE_DUMP_VERSION;
  dump.header.searched = PE_DEAD_STORES | PE_SILENT_STORES | PE_REDUNDANT_LOADS | PE_INSTRUCTIONS;
  dump.header.pid = 4711;
  dump.header.parent_pid = 4710;
  dump.header.start_realtime_ns = 1'700'000'000'000'000'000;
  dump.header.start_monotonic_ns = 1'000'000'000;
  dump.header.end_monotonic_ns = 3'000'000'000;
  dump.strings = std::string("/missing/app 7\0app\0/missing/app\0main\0worker\0", 44);
  dump.header.command = 0;
  dump.header.executable = 15;
  dump.modules = {{0x400000, 0x402000, 0x1000, 8, 99, 19, 0}};
  dump.threads = {{1'000'000'000, 3'000'000'000, 0x7ffe0000, 0x7fff0000, 4711, 32},
                  {1'500'000'000, 2'000'000'000, 0, 0, 4712, 37}};
  // main, a function that it calls, and a thread that this function starts
  dump.contexts = {{0, 0, 0, 0, 0}, {0x400105, 1, 0, 1, 0}, {0, 2, 1, 0, 0}, {0x400205, 3, 1, 1, 0}};
  dump.accesses = {{0x400110, 10, 2, 1, 8, PE_ACCESS_STORE, 0},
                   {0x400210, 5, 4, 1, 4, PE_ACCESS_STORE, 0},
                   {0x400118, 20, 2, 1, 8, PE_ACCESS_LOAD, 0},
                   {0x400120, 0, 2, 1, 0, PE_ACCESS_KERNEL, 0},
                   {0x400110, 1000, 2, 1, 0, PE_ACCESS_INSTRUCTION, 0}};
  dump.pairs = {{0x601000, 5, 20, 0, 1, 2, 4, PE_PAIR_DEAD_STORE},
                {0x601000, 2, 16, 0, 3, 0, 8, PE_PAIR_DEAD_STORE},
                {0x601008, 4, 32, 0, 0, 0, 8, PE_PAIR_SILENT_STORE},
                {0x601010, 19, 152, 2, 2, 0, 8, PE_PAIR_REDUNDANT_LOAD}};
  return dump;
}

}  // namespace prof::test

#include "prof/exact/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace prof {

namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <typename Record>
  std::vector<Record> table(uint64_t count, const char* what) {
    if (count > rest_.size() / sizeof(Record)) throw DumpError(fmt::format("it ends within its {}", what));
    std::vector<Record> records(count);
    if (count != 0) std::memcpy(records.data(), rest_.data(), count * sizeof(Record));
    rest_.remove_prefix(count * sizeof(Record));
    return records;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

void require(bool is_valid, const char* what) {
  if (!is_valid) throw DumpError(fmt::format("one of its {} is not valid", what));
}

PeDumpHeader read_header(Cursor& cursor) {
  const PeDumpHeader header = cursor.table<PeDumpHeader>(1, "header").front();
  if (std::memcmp(header.magic, PE_DUMP_MAGIC, sizeof header.magic) != 0)
    throw DumpError("it is not a dump of prof exact");
  if (header.version != PE_DUMP_VERSION)
    throw DumpError(fmt::format("it has version {}, not {}; the tool is of another prof", header.version,
                                PE_DUMP_VERSION));
  return header;
}

void check_strings(const ExactDump& dump) {
  if (dump.strings.empty() || dump.strings.back() != '\0') throw DumpError("its strings are cut off");
  const auto is_string = [&](uint32_t offset) { return offset < dump.strings.size(); };
  require(is_string(dump.header.command) && is_string(dump.header.executable), "names");
  for (const PeDumpModule& module : dump.modules)
    require(is_string(module.path) && module.start < module.end, "modules");
  for (const PeDumpThread& thread : dump.threads) require(is_string(thread.name), "threads");
}

void check_contexts(const ExactDump& dump) {
  for (size_t i = 0; i < dump.contexts.size(); ++i) {
    const PeDumpContext& context = dump.contexts[i];
    require(
        context.parent <= i && context.thread < dump.threads.size() && context.module <= dump.modules.size(),
        "contexts");
  }
}

void check_accesses(const ExactDump& dump) {
  for (const PeDumpAccess& access : dump.accesses)
    require(access.context >= 1 && access.context <= dump.contexts.size() &&
                access.module <= dump.modules.size() && access.kind >= PE_ACCESS_STORE &&
                access.kind <= PE_ACCESS_KERNEL,
            "accesses");
  for (const PeDumpPair& pair : dump.pairs)
    require(pair.first < dump.accesses.size() && pair.second < dump.accesses.size() &&
                pair.allocation <= dump.contexts.size() && pair.kind >= PE_PAIR_DEAD_STORE &&
                pair.kind <= PE_PAIR_REDUNDANT_LOAD,
            "pairs");
}

}  // namespace

ExactDump read_exact_dump(std::string_view bytes) {
  Cursor cursor(bytes);
  ExactDump dump;
  dump.header = read_header(cursor);
  dump.modules = cursor.table<PeDumpModule>(dump.header.modules, "modules");
  dump.threads = cursor.table<PeDumpThread>(dump.header.threads, "threads");
  dump.contexts = cursor.table<PeDumpContext>(dump.header.contexts, "contexts");
  dump.accesses = cursor.table<PeDumpAccess>(dump.header.accesses, "accesses");
  dump.pairs = cursor.table<PeDumpPair>(dump.header.pairs, "pairs");
  if (cursor.rest().size() != dump.header.string_bytes) throw DumpError("its strings are cut off");
  dump.strings = cursor.rest();
  check_strings(dump);
  check_contexts(dump);
  check_accesses(dump);
  return dump;
}

}  // namespace prof

#include "hpcrun/guest/own_mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <charconv>
#include <cstring>

#include "hpcrun/guest/full_table.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// Parses "low-high rwxp offset device inode   name".
bool parse(char* line, char* end, OwnMapping& mapping) noexcept {
  auto low = std::from_chars(line, end, mapping.low, 16);
  if (low.ec != std::errc{} || low.ptr == end || *low.ptr != '-') return false;
  auto high = std::from_chars(low.ptr + 1, end, mapping.high, 16);
  if (high.ec != std::errc{} || end - high.ptr < 5) return false;
  mapping.is_readable = high.ptr[1] == 'r';
  mapping.is_writable = high.ptr[2] == 'w';
  mapping.is_executable = high.ptr[3] == 'x';
  mapping.is_shared = high.ptr[4] == 's';
  const char* at = high.ptr + 1;
  for (int field = 0; field < 4; ++field) {
    if (field == 3) std::from_chars(at, end, mapping.inode);
    while (at < end && *at != ' ') ++at;
    while (at < end && *at == ' ') ++at;
  }
  mapping.name = at;
  return true;
}

struct Look {
  void (*use)(void* argument, const OwnMapping& mapping);
  void* argument;
  MappingLines& lines;
};

// Returns 0, or the negated errno of open().
long look_at_mappings(void* raw) noexcept {
  const Look& look = *static_cast<const Look*>(raw);
  MappingLines& buffer = look.lines;
  const long maps =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (maps < 0) return maps;
  size_t held = 0;
  for (;;) {
    const long got = raw_syscall(SYS_read, maps, reinterpret_cast<long>(buffer + held),
                                 static_cast<long>(sizeof buffer - held));
    if (got <= 0) break;
    held += static_cast<size_t>(got);
    char* line = buffer;
    while (auto* end = static_cast<char*>(memchr(line, '\n', held - static_cast<size_t>(line - buffer)))) {
      *end = '\0';
      OwnMapping mapping;
      if (parse(line, end, mapping)) look.use(look.argument, mapping);
      line = end + 1;
    }
    held -= static_cast<size_t>(line - buffer);
    memmove(buffer, line, held);
    if (held == sizeof buffer) break;  // no line is that long
  }
  raw_syscall(SYS_close, maps);
  return 0;
}

}  // namespace

void for_each_mapping(void (*use)(void* argument, const OwnMapping& mapping), void* argument,
                      MappingLines& lines) noexcept {
  Look look{use, argument, lines};
  if (look_at_mappings(&look) == -EMFILE) call_with_spare_descriptor(look_at_mappings, &look);
}

void for_each_mapping(void (*use)(void* argument, const OwnMapping& mapping), void* argument) noexcept {
  static MappingLines lines;
  for_each_mapping(use, argument, lines);
}

}  // namespace hpcrun

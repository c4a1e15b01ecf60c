// Executes a program with a sanitizer again, without the runtime. Programs with the runtime keep it out of
// the environment of such a child (exec_calls.cpp), but a static or Go program passes its own environment on.
// The sanitizer would fail as soon as it is initialized, from .preinit_array at the earliest. The loader
// resolves an IFUNC before that, while it relocates this library. The C library is not initialized then, and
// its functions may already lead into the sanitizer, so no code here calls one.

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun/elf/dynamic.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/sanitizer_names.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/preload_list.h"

extern "C" void*
    __libc_stack_end;  // the loader's: the address at which the kernel stored the number of arguments

namespace hpcrun {

using Nothing = void (*)();

namespace {

bool are_equal(const char* one, const char* other) noexcept {
  for (; *one && *one == *other; ++one) ++other;
  return *one == *other;
}

// The values that the kernel stored on the stack.
struct Start {
  char** arguments = nullptr;
  char** environment = nullptr;
  const char* path = nullptr;  // as passed to exec (AT_EXECFN)
  const Elf64_Phdr* segments = nullptr;
  size_t segment_count = 0;
  bool is_by_hand = false;  // started explicitly, as `ld.so PROGRAM`
};

bool is_auxiliary_vector(const uintptr_t* at) noexcept {
  constexpr uintptr_t kMaxType = 64;
  uint64_t types = 0;
  for (; *at != AT_NULL; at += 2) {
    if (*at >= kMaxType) return false;
    types |= uint64_t{1} << *at;
  }
  constexpr uint64_t kAlways = uint64_t{1} << AT_PHDR | uint64_t{1} << AT_PHNUM | uint64_t{1} << AT_PAGESZ |
                               uint64_t{1} << AT_ENTRY | uint64_t{1} << AT_RANDOM | uint64_t{1} << AT_EXECFN;
  return (types & kAlways) == kAlways;
}

// Returns the address at which the kernel stored the number of arguments. It is found on this thread's stack,
// which the kernel made: from the auxiliary vector, which follows the environment, back to the word that
// equals the number of words after it.
uintptr_t* find_first_words() noexcept {
  auto* end = static_cast<uintptr_t*>(__builtin_frame_address(0));
  while (*end != 0 || !is_auxiliary_vector(end + 1)) ++end;
  do --end;
  while (*end != 0);
  uintptr_t arguments = 0;
  do --end;
  while (*end != arguments++);
  return end;
}

// A program that is linked at fixed addresses may have a copy of `__libc_stack_end`, which is not initialized
// yet.
Start read_start() noexcept {
  Start start;
  auto* stack = static_cast<uintptr_t*>(__libc_stack_end);
  if (!stack) stack = find_first_words();
  start.arguments = reinterpret_cast<char**>(stack + 1);
  start.environment = start.arguments + stack[0] + 1;
  char** end = start.environment;
  while (*end) ++end;
  for (const auto* value = reinterpret_cast<const Elf64_auxv_t*>(end + 1); value->a_type != AT_NULL;
       ++value) {
    const uintptr_t is = value->a_un.a_val;
    if (value->a_type == AT_EXECFN) start.path = reinterpret_cast<const char*>(is);
    if (value->a_type == AT_PHDR) start.segments = reinterpret_cast<const Elf64_Phdr*>(is);
    if (value->a_type == AT_PHNUM) start.segment_count = is;
    if (value->a_type == AT_BASE) start.is_by_hand = is == 0;
  }
  return start;
}

// Scans the names of the program's dynamic symbols where they are mapped.
bool has_sanitizer(const Start& start) noexcept {
  const Elf64_Phdr* const own = find_segment(start.segments, start.segment_count, PT_PHDR);
  const Elf64_Phdr* const dynamic = find_segment(start.segments, start.segment_count, PT_DYNAMIC);
  if (!own || !dynamic) return false;
  const uintptr_t bias = reinterpret_cast<uintptr_t>(start.segments) - own->p_vaddr;
  const DynamicTables tables = read_dynamic(MappedSource(bias), dynamic->p_vaddr, dynamic->p_memsz);
  // Some loaders have added the bias in place.
  const uint64_t names = tables.strings < bias ? tables.strings + bias : tables.strings;
  return tables.strings != 0 &&
         SanitizerNames().take(reinterpret_cast<const char*>(names), tables.string_bytes);
}

bool names_runtime(const char* list) noexcept {
  for (PreloadEntry entry = next_entry(list); entry.bytes != 0; entry = next_entry(list))
    if (entry.is_runtime()) return true;
  return false;
}

// Edits in place: the kernel made a copy for this process.
void remove_runtime_from(char** environment) noexcept {
  char** end = environment;
  for (; *environment; ++environment) {
    const size_t begin = begin_of_list(*environment);
    if (begin == 0 || remove_runtime(*environment + begin) != 0) *end++ = *environment;
  }
  *end = nullptr;
}

bool is_same_file(const char* one, const char* other) noexcept {
  struct stat first;
  struct stat second;
  const auto read = [](const char* path, struct stat& status) {
    return raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(path),
                       reinterpret_cast<long>(&status), 0) == 0;
  };
  return read(one, first) && read(other, second) && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

void execute_again(const char* path, char** arguments, char** environment) noexcept {
  raw_syscall(SYS_execve, reinterpret_cast<long>(path), reinterpret_cast<long>(arguments),
              reinterpret_cast<long>(environment));
}

// Returns only if no exec succeeds.
void start_without_runtime(const Start& start) noexcept {
  constexpr char kItself[] = "/proc/self/exe";
  remove_runtime_from(start.environment);
  // Uses its own path, so that the process keeps its name.
  if (is_same_file(start.path, kItself)) execute_again(start.path, start.arguments, start.environment);
  // For a script, omits the arguments before its path: the kernel adds the interpreter's again.
  if (start.arguments[0])
    for (char** argument = start.arguments + 1; *argument; ++argument)
      if (are_equal(*argument, start.path)) execute_again(start.path, argument, start.environment);
  // Uses a descriptor: the file may be unlinked.
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(kItself), O_PATH | O_CLOEXEC);
  if (file < 0) return;
  raw_syscall(SYS_execveat, file, reinterpret_cast<long>(""), reinterpret_cast<long>(start.arguments),
              reinterpret_cast<long>(start.environment), AT_EMPTY_PATH);
  raw_syscall(SYS_close, file);
}

void warn(const char* program) noexcept {
  const auto write = [](const char* text) {
    size_t bytes = 0;
    while (text[bytes]) ++bytes;
    raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(text), static_cast<long>(bytes));
  };
  write("prof: the runtime is preloaded into ");
  write(program);
  write(", which has a sanitizer and may fail with it; start it with `env -u LD_PRELOAD`\n");
}

void leave_sanitized_program() noexcept {
  // The C library has set `environ`, so it is initialized: prof has attached to a running process.
  if (environ) return;
  const Start start = read_start();
  const char* const preload = preload_of(start.environment);
  if (!preload || !names_runtime(preload) || !start.path || !start.segments) return;
  if (!preloads_sanitizer(preload) && !has_sanitizer(start)) return;
  // The loader has removed its own options from the arguments.
  if (!start.is_by_hand) start_without_runtime(start);
  warn(start.path);
}

void do_nothing() noexcept {}

}  // namespace

}  // namespace hpcrun

extern "C" __attribute__((used, visibility("hidden"))) hpcrun::Nothing hpcrun_resolve_start() noexcept {
  hpcrun::leave_sanitized_program();
  return hpcrun::do_nothing;
}

// Never called. Storing its address makes the loader call the resolver.
extern "C" __attribute__((ifunc("hpcrun_resolve_start"), visibility("hidden"))) void hpcrun_started() noexcept;
__attribute__((used)) static hpcrun::Nothing volatile start_is_resolved = hpcrun_started;

#include "analysis/files/cut_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "hpcrun/guest/cut_mapping.h"

namespace prof {

namespace {

constexpr std::string_view kWhat =
    " was truncated while prof read it: the rest of it is lost; measure or analyze again\n";

// Files that were already reported, by their inodes.
std::array<uint64_t, 16> named;
size_t named_count = 0;

// Appends a path without terminal control characters. message.h does the same, but must not be called here.
char* put_printable(char* to, const char* path) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (; *path; ++path) {
    const auto byte = static_cast<uint8_t>(*path);
    if (byte >= 0x20 && byte < 0x7F) {
      *to++ = *path;
      continue;
    }
    for (const char c : {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]}) *to++ = c;
  }
  return to;
}

void name(const char* path) {
  static char line[4 * hpcrun::kMappingLineBytes + 128];
  char* end = std::copy_n("prof: ", 6, line);
  end = put_printable(end, path);
  end = std::copy(kWhat.begin(), kWhat.end(), end);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(end - line));
}

// True for files that prof has mapped for writing, which are measurements of running processes. Their losses
// are reported when the process ends.
bool is_own_file(const hpcrun::OwnMapping& mapping) {
  if (mapping.is_shared && mapping.is_writable) return true;
  const auto end = named.begin() + static_cast<std::ptrdiff_t>(named_count);
  if (std::find(named.begin(), end, mapping.inode) != end || named_count == named.size()) return true;
  named[named_count++] = mapping.inode;
  name(mapping.name);
  return true;
}

void on_bus_error(int, siginfo_t* info, void*) {
  if (hpcrun::replace_cut_page(*info, is_own_file)) return;
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &fatal, nullptr);
  // A signal that another process sent is not raised again by the instruction.
  if (info->si_code <= 0) raise(SIGBUS);
}

}  // namespace

void survive_cut_files() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace prof

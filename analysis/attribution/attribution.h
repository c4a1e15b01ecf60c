#pragma once
// From addresses in load modules to source: function, file and line, and the chain of functions that the
// compiler inlined there. Reads the module's DWARF (its own or a separate debug file found locally; nothing
// is ever downloaded), else Go's table of functions, else its symbol tables, else only the function
// boundaries of its .eh_frame_hdr. Used by the analysis, after the run. attribute_module() may be called for
// different modules at once from several threads.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"

namespace prof {

struct ModuleIdentity {
  std::string path;               // as the loader had it; "[vdso]" for the vDSO
  std::vector<uint8_t> build_id;  // empty when the measurement has none
  uint64_t run_start_ns = 0;      // when it was measured, since the epoch; 0: not known
  hpcrun::FileIdentity file{};    // of what was loaded
};

struct AttributionOptions {
  // Where separate debug files are looked for besides the module's own folder: ROOT/.build-id/xx/yyy.debug
  // and ROOT/<folder of the module>/<debuglink>.
  std::vector<std::filesystem::path> debug_roots = {"/usr/lib/debug"};
  // Measurement directories, in which the runtime saved files that were gone when a process ended.
  std::vector<std::filesystem::path> saved_in{};
};

constexpr uint32_t kNoFile = UINT32_MAX;

struct AttributedFunction {
  std::string name;     // demangled; "foo@plt" for a linkage stub, "libfoo.so+0x1200" for an unnamed function
  uint64_t offset = 0;  // of its first instruction; 0 when it only occurs inlined
  uint32_t file = kNoFile;  // where it is defined
  uint32_t line = 0;        // 0 when not known
};

// One function on the inlined chain of an address.
struct AttributedFrame {
  uint32_t function = 0;
  // The place in `function`: the call site of the next inner frame, or of the address itself for the
  // innermost.
  uint32_t file = kNoFile;
  uint32_t line = 0;  // 0 when not known
  bool inlined = false;
};

struct AttributedModule {
  std::vector<std::string> files;
  std::vector<AttributedFunction> functions;
  std::vector<AttributedFrame> frames;
  std::vector<uint32_t> first;        // of address i: frames[first[i]] to frames[first[i + 1] - 1]
  std::vector<std::string> warnings;  // for the user, one line each
  std::vector<uint8_t> build_id;      // of the file that was read; empty where it has none, or none was read

  // Outermost function first; never empty.
  std::span<const AttributedFrame> chain(size_t address) const {
    return std::span(frames).subspan(first[address], first[address + 1] - first[address]);
  }
};

// `addresses` as the ELF file states them, ascending and distinct. Does not throw on unusable files: every
// address gets at least one frame, and what was wrong is in `warnings`.
AttributedModule attribute_module(const ModuleIdentity& module, std::span<const uint64_t> addresses,
                                  const AttributionOptions& options = {});

// Where a process may have left the names of the code that its just-in-time compiler made. Process numbers
// are used again, and in /tmp anyone may put a file of that name.
struct PerfMap {
  std::filesystem::path path;     // empty: none
  uint32_t user = 0;              // whose map is believed, besides root's
  uint64_t process_start_ns = 0;  // since the epoch; an older map is another process's
};

// Absolute addresses in generated code, named by its perf map ("START SIZE name" in hexadecimal, one a line);
// "[jit]" for what the map does not name or when there is none. A map that is not believed is a warning.
AttributedModule attribute_jit(const PerfMap& perf_map, std::span<const uint64_t> addresses);

}  // namespace prof

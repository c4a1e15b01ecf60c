#pragma once
// Attributes addresses in load modules to source: function, file and line, and the chain of functions that
// the compiler inlined there. Reads the module's DWARF, from the module or from a separate debug file on this
// machine; nothing is ever downloaded. Without DWARF, reads Go's function table, then the symbol tables, then
// the function boundaries in .eh_frame_hdr. Used by the analysis, after the run. attribute_module() may be
// called for different modules from several threads at once.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"

namespace prof {

struct ModuleIdentity {
  std::string path;               // as the loader reported it; "[vdso]" for the vDSO
  std::vector<uint8_t> build_id;  // empty if the measurement has none
  uint64_t run_start_ns = 0;      // when it was measured, since the epoch; 0 if unknown
  hpcrun::FileIdentity file{};    // of the loaded file
};

struct AttributionOptions {
  // Folders to search for separate debug files besides the module's own: ROOT/.build-id/xx/yyy.debug and
  // ROOT/<folder of the module>/<debuglink>.
  std::vector<std::filesystem::path> debug_roots = {"/usr/lib/debug"};
  // Measurement directories, into which the runtime copied files that no longer existed when a process ended.
  std::vector<std::filesystem::path> saved_in{};
};

constexpr uint32_t kNoFile = UINT32_MAX;

struct AttributedFunction {
  std::string name;     // demangled; "foo@plt" for a linkage stub, "libfoo.so+0x1200" for an unnamed function
  uint64_t offset = 0;  // of its first instruction; 0 if it only occurs inlined
  uint32_t file = kNoFile;  // its definition
  uint32_t line = 0;        // 0 if unknown
};

// One function in the chain of inlined calls at an address.
struct AttributedFrame {
  uint32_t function = 0;
  // The source line in `function`: the call site of the next inner frame; for the innermost frame, the line
  // of the address.
  uint32_t file = kNoFile;
  uint32_t line = 0;  // 0 if unknown
  bool inlined = false;
};

struct AttributedModule {
  std::vector<std::string> files;
  std::vector<AttributedFunction> functions;
  std::vector<AttributedFrame> frames;
  std::vector<uint32_t> first;        // chain of address i: frames[first[i]] to frames[first[i + 1] - 1]
  std::vector<std::string> warnings;  // for the user, one line each
  std::vector<uint8_t> build_id;      // of the file that was read; empty if it has none or no file was read

  // Outermost function first; never empty.
  std::span<const AttributedFrame> chain(size_t address) const {
    return std::span(frames).subspan(first[address], first[address + 1] - first[address]);
  }
};

// Attributes `addresses`, which are as in the ELF file, ascending and distinct. Does not throw for unusable
// files: every address gets at least one frame, and `warnings` has the reasons.
AttributedModule attribute_module(const ModuleIdentity& module, std::span<const uint64_t> addresses,
                                  const AttributionOptions& options = {});

// The file in which a process may have left the names of the code that its JIT compiler generated. Process
// IDs are reused, and anyone may put a file of that name into /tmp.
struct PerfMap {
  std::filesystem::path path;     // empty if there is none
  uint32_t user = 0;              // maps of this user and of root are accepted
  uint64_t process_start_ns = 0;  // since the epoch; an older map belongs to another process
};

// Attributes absolute addresses in generated code by its perf map ("START SIZE name" in hexadecimal, one per
// line). Addresses without a name get "[jit]". A map that is rejected is reported in a warning.
AttributedModule attribute_jit(const PerfMap& perf_map, std::span<const uint64_t> addresses);

}  // namespace prof

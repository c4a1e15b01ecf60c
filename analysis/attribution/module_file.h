#pragma once
// Opens an ELF file on this machine for attribution, with its separate debug information. Not thread-safe.

#include <elfutils/libdwfl.h>

#include <memory>
#include <optional>

#include "analysis/attribution/attribution.h"

namespace prof {

enum class OpenFailure : uint8_t {
  None,
  Missing,     // no file at that path
  Unreadable,  // open_error() has the reason
  NotElf,      // libdw cannot read it
  Changed,     // its build-id is not the measured one
  Another,     // it has no build-id, and not the measured size
  ForeignVdso  // the vDSO of another kernel
};

class ModuleFile {
 public:
  // The options must outlive the ModuleFile.
  OpenFailure open(const ModuleIdentity& module, const AttributionOptions& options);

  int open_error() const { return open_error_; }  // an errno
  // True if the module has no build-id and the file was modified after the run began, so only its
  // modification time suggests that it may differ.
  bool may_have_changed() const { return may_have_changed_; }
  // True if the module has no build-id and the file has the measured size, but is another file: a copy, or
  // what the path refers to outside of the program's container.
  bool may_be_another() const { return may_be_another_; }

  Dwfl_Module* module() const { return module_; }
  Elf* elf() const;  // the module's own file, not its debug file

  // Returns the debug information; nullptr if there is none. Adding `bias` to its addresses gives the
  // module's.
  Dwarf* dwarf(uint64_t& bias) const;

  // Discards everything that libdw has cached and opens the file again. Results of elf() and dwarf() become
  // invalid.
  bool reopen();

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };

  OpenFailure open_path(const ModuleIdentity& module);
  bool begin();

  const AttributionOptions* options_ = nullptr;
  std::string path_;
  int open_error_ = 0;
  bool may_have_changed_ = false;
  bool may_be_another_ = false;
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace prof

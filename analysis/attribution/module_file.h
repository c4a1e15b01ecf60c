#pragma once
// An ELF file on this machine, opened for attribution with whatever separate debug information belongs to it.
// Not for use by several threads at once.

#include <elfutils/libdwfl.h>

#include <memory>
#include <optional>

#include "analysis/attribution/attribution.h"

namespace prof {

enum class OpenFailure : uint8_t {
  None,
  Missing,     // no file at that path
  Unreadable,  // open_error() says why
  NotElf,      // libdw cannot read it
  Changed,     // its build-id is not the measured one
  Another,     // without a build-id: its size is not that of the measured one
  ForeignVdso  // the vDSO of another kernel
};

class ModuleFile {
 public:
  // The options must outlive the ModuleFile.
  OpenFailure open(const ModuleIdentity& module, const AttributionOptions& options);

  int open_error() const { return open_error_; }  // an errno
  // True where nothing but the time of its last change tells whether the file is the measured one, and that
  // is after the run began.
  bool may_have_changed() const { return may_have_changed_; }
  // True for a file without a build-id that has the size of the measured one, but is another: a copy of it,
  // or what the path leads to outside of the program's container.
  bool may_be_another() const { return may_be_another_; }

  Dwfl_Module* module() const { return module_; }
  Elf* elf() const;  // the module's own file, not its debug file

  // The debug information; bias is what to add to its addresses to get the module's. nullptr without any.
  Dwarf* dwarf(uint64_t& bias) const;

  // Forgets everything that libdw has cached and starts afresh. What elf() and dwarf() gave is invalid.
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

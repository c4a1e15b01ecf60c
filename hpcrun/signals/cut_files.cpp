#include "hpcrun/signals/cut_files.h"

#include <cerrno>
#include <cstring>

#include "hpcrun/device/shared_device.h"
#include "hpcrun/guest/cut_mapping.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

// The measurement file is recognized by its inode: its folder may have been renamed.
bool is_own_file(const OwnMapping& mapping) noexcept {
  if (mapping.is_shared && mapping.is_writable && process_state.file.is_in_inode(mapping.inode)) {
    process_state.file.stop(ESTALE);
    return true;
  }
  for (const char* const name : {kSharedTablesFolder, kRepairPlanFile, kSharedDeviceFiles})
    if (strstr(mapping.name, name)) return true;
  return false;
}

}  // namespace

bool survive_cut_file(const siginfo_t& info) noexcept {
  return replace_cut_page(info, is_own_file);
}

}  // namespace hpcrun

// Replaces otf2.cpp if the library was missing when prof was built.

#include "prof/base/message.h"
#include "prof/export/formats.h"

namespace prof {

bool has_otf2() {
  return false;
}

void export_otf2(const CallTree&, const std::filesystem::path&) {
  fail(kOwnFailure,
       "prof was built without OTF2; install libotf2-trace-dev and rebuild prof with -DPROF_WITH_OTF2=ON");
}

}  // namespace prof

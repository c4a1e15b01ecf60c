// The doors of `prof attach`: called by a thread that it makes in the program, one call at a time.

#include <errno.h>

#include "hpcrun/process/next.h"
#include "hpcrun/process/start.h"

// Measures by the settings (hpcrun/sample/config.h) until hpcrun_detach() or the end of the process. 0, or an
// errno: EBUSY when the process is being measured already.
HPCRUN_EXPORT long hpcrun_attach(const char* settings) noexcept {
  return hpcrun::start_late(settings);
}

// Ends the measuring and closes the file. The library stays, since threads may be on their way through it,
// and so do its handlers of the signals that it used: one may still be on its way. 0 also where nothing was
// measured.
HPCRUN_EXPORT long hpcrun_detach(const char*) noexcept {
  return hpcrun::finish_late();
}

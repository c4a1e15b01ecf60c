#include "prof/base/quiet.h"

#include "prof/base/message.h"

namespace prof {

void add_quiet_option(CLI::App& command) {
  command.add_flag_callback(
      "-q,--quiet", [] { set_quiet(true); }, "Print errors only");
}

}  // namespace prof

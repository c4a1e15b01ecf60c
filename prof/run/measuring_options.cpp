#include "prof/run/measuring_options.h"

#include "prof/base/quiet.h"
#include "prof/results/share.h"

namespace prof {

void add_measuring_options(CLI::App& command, MeasuringOptions& options) {
  command
      .add_option("-e,--event", options.events,
                  "Event to sample, at RATE per second; repeatable [CPUTIME@1000]")
      ->type_name("EVENT[@RATE]")
      ->allow_extra_args(false);
  command.add_flag("--trace", options.trace, "Also record a timeline");
  command.add_flag_callback(
      "--no-analyze", [&options] { options.analyze = false; }, "Do not analyze or print a summary");
  add_window_options(command, options.window);
  command.add_flag("--force", options.force, "Replace measurements in the directory");
  command.add_option("-o,--output", options.output, "Measurement directory [prof-PROGRAM-%j-%p]")
      ->type_name("DIR");
  add_share_option(command);
  add_quiet_option(command);
}

}  // namespace prof

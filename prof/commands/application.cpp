#include "prof/commands/application.h"

#include <filesystem>

#include "prof/base/release.h"
#include "prof/cc/compile.h"
#include "prof/command_line/help_commands.h"
#include "prof/command_line/help_text.h"
#include "prof/command_line/settings.h"
#include "prof/commands/analyze.h"
#include "prof/commands/attach.h"
#include "prof/commands/diff.h"
#include "prof/commands/doctor.h"
#include "prof/commands/exact.h"
#include "prof/commands/import.h"
#include "prof/commands/list.h"
#include "prof/commands/pause.h"
#include "prof/commands/report.h"
#include "prof/commands/run.h"
#include "prof/commands/version.h"
#include "prof/commands/view.h"

namespace prof {

Application::Application(int& status)
    : CLI::App("Sampling profiler for Linux programs you cannot recompile", "prof") {
  set_version_flag("--version", short_version(), "Print the version");
  set_help_flag("-h,--help", "Print this help");
  set_help_all_flag("--help-all", "Print the help of all subcommands");
  require_subcommand(1);

  add_run_command(*this, status);
  add_attach_command(*this, status);
  add_exact_command(*this, status);
  add_pause_commands(*this, status);
  add_analyze_command(*this, status);
  add_report_command(*this, status);
  add_diff_command(*this, status);
  add_view_command(*this, status);
  add_export_command(*this, status);
  add_import_command(*this, status);
  add_list_command(*this, status);
  add_doctor_command(*this, status);
  add_compile_commands(*this, status);
  add_config_command(*this, status);
  add_completion_command(*this, status);
  add_version_command(*this, status);
  add_help_command(*this, status);
  use_help_text(*this);
}

void Application::pre_callback() {
  if (!takes_settings(*this)) return;
  std::error_code error;
  apply_settings(*this, read_settings(*this, settings_files(std::filesystem::current_path(error))));
}

}  // namespace prof

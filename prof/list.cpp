#include "prof/list.h"

#include <fmt/format.h>

#include <cstdio>

#include "prof/events.h"

namespace prof {

void add_list_command(CLI::App& app, int& status) {
  CLI::App* list = app.add_subcommand("list", "List what can be asked for by name");
  list->require_subcommand(1);
  list->add_subcommand("events", "Events that this machine can sample")->callback([&status] {
    for (const EventDescription& event : list_events()) {
      const std::string line = fmt::format("{:<40} {}\n", event.name, event.text);
      std::fputs(line.c_str(), stdout);  // main() looks at errors
    }
    status = 0;
  });
}

}  // namespace prof

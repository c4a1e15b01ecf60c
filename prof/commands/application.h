#pragma once
// All subcommands of `prof` and what they have in common.

#include <CLI/CLI.hpp>

namespace prof {

class Application : public CLI::App {
 public:
  // `status` becomes the exit status of the subcommand that ran.
  explicit Application(int& status);

 private:
  // CLI11 calls it between parsing and the subcommand. Settings supply the options that the command line
  // omitted.
  void pre_callback() override;
};

}  // namespace prof

#include "tests/exact/engine_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "hpcrun/measurement/regular_file.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

namespace fs = std::filesystem;

namespace {

void execute(const fs::path& directory, const std::string& name, const std::string& option) {
  setenv("ENGINE_PROGRAM", PROF_ENGINE_PROGRAM, 1);
  execl(PROF_EXACT_TOOL, PROF_EXACT_TOOL, "--tool=profexact", "-q", "--vgdb=no", "--command-line-only=yes",
        "--trace-children=yes", ("--directory=" + directory.string()).c_str(), (option + "=yes").c_str(),
        PROF_ENGINE_PROGRAM, name.c_str(), nullptr);
  _exit(126);
}

int run(const fs::path& directory, const std::string& name, const std::string& option) {
  const pid_t child = fork();
  if (child == 0) execute(directory, name, option);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

EngineRun::EngineRun(const std::string& name, const std::string& option) {
  const TemporaryDirectory directory;
  if (const int status = run(directory.path(), name, option); status != 7)
    throw std::runtime_error("the program ended with status " + std::to_string(status));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) dumps_.push_back(read_exact_dump(read_regular_file(file).value()));
  read_symbols();
}

void EngineRun::read_symbols() {
  FILE* const nm = popen("nm -S --defined-only " PROF_ENGINE_PROGRAM, "r");
  char line[1024];
  while (fgets(line, sizeof line, nm)) {
    std::istringstream fields(line);
    uint64_t start = 0;
    uint64_t bytes = 0;
    char type = 0;
    std::string name;
    if (fields >> std::hex >> start >> bytes >> type >> name && (type == 't' || type == 'T'))
      symbols_[start] = {start + bytes, name};
  }
  pclose(nm);
  if (symbols_.empty()) throw std::runtime_error("nm lists no functions");
}

const ExactDump& EngineRun::dump() const {
  if (dumps_.size() != 1) throw std::runtime_error(std::to_string(dumps_.size()) + " dumps");
  return dumps_.front();
}

std::string EngineRun::function_at(uint64_t address) const {
  auto after = symbols_.upper_bound(address);
  if (after == symbols_.begin()) return "";
  --after;
  return address < after->second.end ? after->second.name : "";
}

Wasted EngineRun::wasted(const ExactDump& dump, PePairKind kind, const std::string& first,
                         const std::string& second) const {
  Wasted sum;
  const auto is_in = [&](uint32_t access, const std::string& name) {
    return name.empty() || function_at(dump.accesses[access].address) == name;
  };
  for (const PeDumpPair& pair : dump.pairs)
    if (pair.kind == kind && is_in(pair.first, first) && is_in(pair.second, second)) {
      sum.count += pair.count;
      sum.bytes += pair.bytes;
    }
  return sum;
}

uint64_t EngineRun::executions(const ExactDump& dump, PeAccessKind kind, const std::string& function) const {
  uint64_t count = 0;
  for (const PeDumpAccess& access : dump.accesses)
    if (access.kind == kind && function_at(access.address) == function) count += access.count;
  return count;
}

std::vector<std::string> EngineRun::callers(const ExactDump& dump, uint32_t context) const {
  std::vector<std::string> names;
  for (uint32_t id = context; id != 0; id = dump.contexts[id - 1].parent) {
    const uint64_t address = dump.contexts[id - 1].return_address;
    if (address == 0) continue;
    if (const std::string name = function_at(address - 1); !name.empty()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> EngineRun::callers_of_second(const ExactDump& dump, const std::string& first,
                                                      const std::string& second) const {
  for (const PeDumpPair& pair : dump.pairs)
    if (function_at(dump.accesses[pair.first].address) == first &&
        function_at(dump.accesses[pair.second].address) == second)
      return callers(dump, dump.accesses[pair.second].context);
  return {};
}

}  // namespace prof::test

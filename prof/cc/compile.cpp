#include "prof/cc/compile.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "prof/base/message.h"
#include "prof/base/runtime_library.h"
#include "prof/cc/annotated_module.h"

namespace prof {

namespace {

struct Language {
  const char* subcommand;
  const char* compiler;
  const char* what;
};
constexpr std::array<Language, 2> kLanguages = {{
    {"cc", "clang-14", "Compile C and note where its atomic operations are, for --repair=isolate"},
    {"c++", "clang++-14", "Compile C++ and note where its atomic operations are, for --repair=isolate"},
}};

// With any of these options the compiler links no file that could run.
constexpr std::array<std::string_view, 11> kNoLinking = {
    "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "--precompile", "-emit-ast", "-###", "--analyze"};

// Splits the contents of a response file: words separated by space, quoted as in a shell.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::exchange(word, ""));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      if (c == '\\' && quote != '\'' && at + 1 < text.size()) c = text[++at];
      word += c;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

std::vector<std::string> with_response_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    std::ifstream file(argument.starts_with('@') ? argument.substr(1) : "");
    if (!file) {
      words.push_back(argument);
      continue;
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::ranges::copy(words_of(text), std::back_inserter(words));
  }
  return words;
}

int run_compiler(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  if (const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ))
    fail(kOwnFailure, "cannot run {}: {}; `prof cc` compiles with it: install the package clang-14", words[0],
         std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::optional<Compilation> compilation_in(int argc, const char* const* argv) {
  if (argc < 2 || (argc == 3 && std::string_view(argv[2]) == "--help")) return std::nullopt;
  for (const Language& language : kLanguages)
    if (std::string_view(argv[1]) == language.subcommand)
      return Compilation{language.compiler, {argv + 2, argv + argc}};
  return std::nullopt;
}

std::optional<std::string> linked_file(const std::vector<std::string>& arguments) {
  std::string file = "a.out";
  const std::vector<std::string> words = with_response_files(arguments);
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (std::ranges::find(kNoLinking, word) != kNoLinking.end()) return std::nullopt;
    if ((word == "-o" || word == "--output") && at + 1 < words.size())
      file = words[++at];
    else if (word.starts_with("--output="))
      file = word.substr(std::strlen("--output="));
    else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-object"))
      file = word.substr(2);
  }
  return file;
}

int compile(const Compilation& compilation) {
  // Assembler sources, and calls that only link, do not use the plugin.
  std::vector<std::string> words = {compilation.compiler, "--start-no-unused-arguments",
                                    "-fpass-plugin=" + find_regions_plugin().string(),
                                    "--end-no-unused-arguments"};
  std::ranges::copy(compilation.arguments, std::back_inserter(words));
  const int status = run_compiler(words);
  if (status != 0) return status;
  if (const std::optional<std::string> file = linked_file(compilation.arguments)) mark_if_annotated(*file);
  return 0;
}

void add_compile_commands(CLI::App& app, int& status) {
  for (const Language& language : kLanguages) {
    CLI::App* command = app.add_subcommand(language.subcommand, language.what);
    auto arguments = std::make_shared<std::vector<std::string>>();
    command->add_option("argument", *arguments, "Arguments for clang: options, sources, objects")
        ->type_name("FILE");
    // Reached by `--help` alone: all other command lines belong to the compiler.
    command->callback([&status] { status = kOwnFailure; });
  }
}

}  // namespace prof

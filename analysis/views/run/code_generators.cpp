#include "analysis/views/run/code_generators.h"

#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr std::string_view kAnyNames =
    "have its compiler write a perf map (docs/interpreters.md) to see names";
constexpr std::string_view kAnyStacks =
    "have it keep them, such as with java -XX:+PreserveFramePointer (docs/interpreters.md)";

constexpr CodeGenerator kGenerators[] = {
    {"libjvm.so",
     "run java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit to see the names of methods",
     "run java with -XX:+PreserveFramePointer to see the callers (docs/interpreters.md)"},
    {"node", "run node with --perf-basic-prof to see the names of functions", kAnyStacks},
    {"luajit", kAnyNames,
     "use luajit -joff, which does not compile, to get whole stacks (docs/interpreters.md)"},
    {"libluajit", kAnyNames,
     "call jit.off() in the program, which then does not compile, to get whole stacks "
     "(docs/interpreters.md)"},
    {"libguile", kAnyNames,
     "set GUILE_JIT_THRESHOLD=-1, with which Guile does not compile, to get whole stacks "
     "(docs/interpreters.md)"},
    {"ruby", kAnyNames, "use ruby without --jit and --yjit to get whole stacks (docs/interpreters.md)"},
    {"libruby", kAnyNames, "use ruby without --jit and --yjit to get whole stacks (docs/interpreters.md)"},
    {"php", kAnyNames, "use php -d opcache.jit=off to get whole stacks (docs/interpreters.md)"},
};

constexpr CodeGenerator kOther = {"", kAnyNames, kAnyStacks};

}  // namespace

const CodeGenerator& code_generator(const Database& database) {
  for (const CodeGenerator& generator : kGenerators)
    for (const LoadModule& module : database.modules)
      if (base_name(module.path).starts_with(generator.module)) return generator;
  return kOther;
}

}  // namespace prof

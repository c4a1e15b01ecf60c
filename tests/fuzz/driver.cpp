// Replaces libFuzzer if its compiler is missing. It has the same entry point and the options that tools/fuzz
// uses, but its mutations are not guided by coverage. Equal seeds and corpora give equal inputs.
//   fuzz_X [-runs=N] [-max_total_time=SECONDS] [-seed=N] [-max_len=BYTES] [CORPUS_FOLDER | FILE]...
// Each file is tried once. The current input is stored in ./crash-X-<pid> while it runs, so that it is
// available after a crash or hang. An input that takes longer than -timeout seconds (25) is a hang.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr rlim_t kMaxMemory = rlim_t{2} << 30;
constexpr uint64_t kMaxKept = 4096;  // inputs that are mutated further

struct Options {
  uint64_t runs = UINT64_MAX;
  double seconds = 0;  // 0: no limit
  uint64_t seed = 1;
  size_t most_bytes = 65536;
  unsigned timeout = 25;
  std::vector<fs::path> corpora;
};

struct State {  // the current input, for handlers of fatal signals
  const Bytes* input = nullptr;
  std::string crash_file;
} state;

void keep_input() {
  if (state.input == nullptr) return;
  if (std::FILE* file = std::fopen(state.crash_file.c_str(), "wb")) {
    std::fwrite(state.input->data(), 1, state.input->size(), file);
    std::fclose(file);
    std::fprintf(stderr, "the input is in %s\n", state.crash_file.c_str());
  }
}

void on_end(int signal) {
  std::fprintf(stderr, signal == SIGALRM ? "an input takes too long\n" : "crashed by signal %d\n", signal);
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Bytes contents_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

class Mutator {
 public:
  Mutator(uint64_t seed, size_t most_bytes) : random_(seed), most_bytes_(most_bytes) {}

  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void mutate(Bytes& bytes, const Bytes& other) {
    for (uint64_t changes = 1 + below(6); changes != 0; --changes) change(bytes, other);
    if (bytes.size() > most_bytes_) bytes.resize(most_bytes_);
  }

 private:
  void change(Bytes& bytes, const Bytes& other) {
    const size_t at = below(bytes.size() + 1);
    const auto position = bytes.begin() + static_cast<ptrdiff_t>(at);
    const size_t left = bytes.size() - at;
    const size_t few = std::min<size_t>(left, 1 + below(below(2) == 0 ? 8 : 256));
    switch (below(8)) {
      case 0:
        if (left > 0) bytes[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1: {
        const uint64_t value = interesting();
        const size_t width = std::min(left, size_t{1} << below(4));
        if (width > 0) std::memcpy(bytes.data() + at, &value, width);
        break;
      }
      case 2:
        bytes.erase(position, position + static_cast<ptrdiff_t>(few));
        break;
      case 3: {
        const Bytes piece(position, position + static_cast<ptrdiff_t>(few));
        const auto to = static_cast<ptrdiff_t>(below(bytes.size() + 1));
        bytes.insert(bytes.begin() + to, piece.begin(), piece.end());
        break;
      }
      case 4: {  // part of another input
        const size_t from = below(other.size() + 1);
        const size_t count = std::min<size_t>(other.size() - from, 1 + below(256));
        bytes.insert(position, other.begin() + static_cast<ptrdiff_t>(from),
                     other.begin() + static_cast<ptrdiff_t>(from + count));
        break;
      }
      case 5:
        if (left > 0) bytes[at] = kTextBytes[below(kTextBytes.size())];
        break;
      case 6:
        std::fill_n(position, few, below(2) == 0 ? uint8_t{0} : uint8_t{0xff});
        break;
      default:
        if (below(4) == 0)
          bytes.resize(at);
        else if (left > 0)
          bytes[at] = static_cast<uint8_t>(random_());
    }
  }

  uint64_t interesting() {
    constexpr uint64_t kValues[] = {0,      1,      0x7f,       0x80,       0xff,        0x7fff,
                                    0x8000, 0xffff, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX};
    return below(3) == 0 ? random_() : kValues[below(std::size(kValues))] + below(3) - 1;
  }

  static constexpr std::string_view kTextBytes = "0123456789abcdef-+.eE;:,_[]{}()\"\\ \n\t#=/";

  std::mt19937_64 random_;
  size_t most_bytes_;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto number = [&](std::string_view name, auto& value) {
      if (!word.starts_with(name)) return false;
      value =
          static_cast<std::remove_reference_t<decltype(value)>>(std::strtod(argv[i] + name.size(), nullptr));
      return true;
    };
    if (number("-runs=", options.runs) || number("-max_total_time=", options.seconds) ||
        number("-seed=", options.seed) || number("-max_len=", options.most_bytes) ||
        number("-timeout=", options.timeout))
      continue;
    if (!word.starts_with('-')) options.corpora.emplace_back(word);
  }
  return options;
}

void run(const Bytes& input, unsigned timeout) {
  state.input = &input;
  alarm(timeout);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  state.input = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  state.crash_file =
      fs::absolute("crash-" + fs::path(argv[0]).filename().string() + "-" + std::to_string(getpid()))
          .string();
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes
  const rlimit memory{kMaxMemory, kMaxMemory};
  setrlimit(RLIMIT_AS, &memory);
#endif
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(signal, on_end);

  std::vector<Bytes> inputs;
  for (const fs::path& corpus : options.corpora) {
    if (!fs::is_directory(corpus)) {
      run(contents_of(corpus), options.timeout);
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(corpus)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) inputs.push_back(contents_of(file));
  }
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  uint64_t done = 0;
  for (const Bytes& input : inputs) run(input, options.timeout), ++done;
  if (inputs.empty()) inputs.emplace_back();

  const size_t originals = inputs.size();
  const bool limited = options.runs != UINT64_MAX || options.seconds > 0;
  Mutator mutator(options.seed, options.most_bytes);
  while (limited && done < options.runs && (options.seconds <= 0 || elapsed() < options.seconds)) {
    Bytes input = inputs[mutator.below(inputs.size())];
    mutator.mutate(input, inputs[mutator.below(originals)]);
    run(input, options.timeout);
    ++done;
    // Mutants are mutated further, and get farther away.
    if (mutator.below(64) != 0) continue;
    if (inputs.size() < originals + kMaxKept)
      inputs.push_back(std::move(input));
    else
      inputs[originals + mutator.below(kMaxKept)] = std::move(input);
  }
  alarm(0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s: %llu inputs in %.0f s, at most %ld MiB\n", fs::path(argv[0]).filename().c_str(),
              static_cast<unsigned long long>(done), elapsed(), usage.ru_maxrss / 1024);
  return 0;
}

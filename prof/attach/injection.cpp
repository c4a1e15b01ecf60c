#include "prof/attach/injection.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "prof/attach/tracee.h"
#include "prof/base/message.h"

// Runs in the process. It is position-independent, and relies on nothing but the request that is passed to
// it. The offsets are those of Request.
asm(R"(
.pushsection .rodata
.globl prof_injected_begin, prof_injected_return, prof_injected_end
prof_injected_begin:
  pushq %rbx
  pushq %r12
  subq $24, %rsp
  movq %rdi, %rbx
  movl $186, %eax            # gettid
  syscall
  movl %eax, 64(%rbx)
  movl $200, %r12d           # ms: prof may have been killed
5:
  cmpl $0, 60(%rbx)          # until the stopped thread goes on: no sample
  jne 6f                     # may end the call that it waits in
  movq $0, 0(%rsp)
  movq $1000000, 8(%rsp)
  movq %rsp, %rdi
  xorl %esi, %esi
  movl $35, %eax             # nanosleep
  syscall
  decl %r12d
  jnz 5b
6:
  movq 24(%rbx), %rdi
  movl $0x1002, %esi         # RTLD_NOW | RTLD_NODELETE
  callq *0(%rbx)             # dlopen
  testq %rax, %rax
  jz 1f
  movq %rax, %rdi
  movq 32(%rbx), %rsi
  callq *8(%rbx)             # dlsym
  testq %rax, %rax
  jz 1f
  movq 40(%rbx), %rdi
  callq *%rax
  movq %rax, 48(%rbx)
  movl $1, 56(%rbx)
  jmp 3f
1:
  callq *16(%rbx)            # dlerror
  testq %rax, %rax
  jz 2f
  movq %rax, %rsi
  leaq 72(%rbx), %rdi
  movl $511, %ecx
4:
  movb (%rsi), %al
  movb %al, (%rdi)
  incq %rsi
  incq %rdi
  testb %al, %al
  jz 2f
  decl %ecx
  jnz 4b
2:
  movl $2, 56(%rbx)
3:
  xorl %eax, %eax
  addq $24, %rsp
  popq %r12
  popq %rbx
  ret
prof_injected_return:        # where the stopped thread comes back from pthread_create
  movq %rax, %rbx
  movl $39, %eax             # getpid: a system call to be stopped at
  syscall                    # prof puts the thread back here; if it was killed,
  leaq 8(%r12), %rsp         # the thread goes back by its frame (return_frame.h)
  movl $15, %eax             # rt_sigreturn
  syscall
  ud2
prof_injected_end:
.popsection
)");
extern "C" const char prof_injected_begin[];
extern "C" const char prof_injected_return[];
extern "C" const char prof_injected_end[];

namespace prof {

namespace {

struct Request {
  uint64_t dlopen = 0;
  uint64_t dlsym = 0;
  uint64_t dlerror = 0;
  uint64_t library = 0;
  uint64_t function = 0;
  uint64_t text = 0;
  int64_t result = 0;
  uint32_t state = 0;
  uint32_t goes_on = 0;  // 1: the stopped thread may continue
  uint32_t tid = 0;
  uint32_t unused_too = 0;
  char error[512] = {};
  uint64_t thread = 0;
  pthread_attr_t attributes{};
};
static_assert(offsetof(Request, library) == 24 && offsetof(Request, result) == 48 &&
              offsetof(Request, state) == 56 && offsetof(Request, goes_on) == 60 &&
              offsetof(Request, tid) == 64 && offsetof(Request, error) == 72);
constexpr uint32_t kFailed = 2;  // 1: done

// The memory in the process holds the code, the request with its texts, the stopped thread's stack, and the
// created thread's stack.
constexpr uint64_t kCodeBytes = 4096;
constexpr uint64_t kRequestBytes = 64 * 1024;
constexpr uint64_t kCallStackBytes = 64 * 1024;
constexpr uint64_t kThreadStackBytes = 1024 * 1024;
constexpr uint64_t kMemoryBytes = kCodeBytes + kRequestBytes + kCallStackBytes + kThreadStackBytes;

// Threads pass through code in which they may hold a lock. Sooner or later one is found elsewhere.
constexpr std::chrono::seconds kPlaceTimeout{20};
// The time for which all code of an executable with an allocator is avoided. Its threads are usually found
// elsewhere by then, mostly in a call that waits. A thread that only computes never leaves that code.
constexpr std::chrono::milliseconds kAvoidsOwnCode{200};
constexpr std::chrono::seconds kResultTimeout{60};
// In the kernel the created thread may be delayed repeatedly by other load on the machine; it returns
// eventually.
constexpr std::chrono::seconds kKernelTimeout{600};
constexpr std::chrono::seconds kHoldUpTimeout{5};

// Blocks signals, because prof must not be interrupted while a thread runs code of prof's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);  // raised by accesses to truncated files (cut_files.h)
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

void write_memory(int pid, uint64_t to, const void* from, size_t bytes) {
  const iovec local{const_cast<void*>(from), bytes};
  const iovec remote{reinterpret_cast<void*>(to), bytes};
  if (process_vm_writev(pid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(bytes))
    fail(kOwnFailure, "cannot write to the memory of process {}: {}", pid, std::strerror(errno));
}

bool read_request(int pid, uint64_t from, Request& request) {
  const iovec local{&request, sizeof request};
  const iovec remote{reinterpret_cast<void*>(from), sizeof request};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof request);
}

void expect(long result, const char* what) {
  if (result < 0)
    fail(kOwnFailure, "the process cannot {}: {}", what, std::strerror(static_cast<int>(-result)));
}

bool exists(int pid, uint32_t tid) {
  return std::ifstream(fmt::format("/proc/{}/task/{}/stat", pid, tid)).good();
}

// Returns the kernel function in which a thread waits that no signal wakes, or an empty string.
std::string held_in_kernel(int pid, uint32_t tid) {
  const std::string thread = fmt::format("/proc/{}/task/{}", pid, tid);
  std::ifstream stat(thread + "/stat");
  std::string line;
  std::getline(stat, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || line.size() < name_end + 3 || line[name_end + 2] != 'D') return "";
  std::string function = "?";
  std::string call = "?";
  std::ifstream(thread + "/wchan") >> function;
  std::ifstream(thread + "/syscall") >> call;
  return fmt::format("system call {}, {}", call, function);
}

}  // namespace

void Injection::leave_memory() {
  memory_ = 0;
}

Injection::~Injection() {
  if (!memory_) return;
  const SignalsBlocked blocked;
  for (const int tid : threads_of(target_.pid)) {
    try {
      std::optional<Tracee> thread = Tracee::stop_if_repeatable(tid);
      if (!thread || !thread->prepare(target_)) continue;
      thread->system_call(target_.system_call, SYS_munmap, {memory_, kMemoryBytes});
      return;
    } catch (const CommandError&) {
      return;  // it ended, or may no longer be traced
    }
  }
}

long Injection::call(const std::filesystem::path& library, const std::string& function,
                     const std::string& text) {
  const std::string path = library.string();
  const size_t texts = path.size() + 1 + function.size() + 1 + text.size() + 1;
  if (sizeof(Request) + texts > kRequestBytes)
    fail(kOwnFailure, "the settings are too long for process {}; use a shorter path with -o", target_.pid);
  std::string texts_after = path + '\0' + function + '\0' + text + '\0';
  Request request;
  request.dlopen = target_.dlopen;
  request.dlsym = target_.dlsym;
  request.dlerror = target_.dlerror;
  // The offset from the request until the request's address is known.
  request.library = sizeof(Request);
  request.function = request.library + path.size() + 1;
  request.text = request.function + function.size() + 1;
  create_thread(std::string(reinterpret_cast<const char*>(&request), sizeof request) + texts_after);
  return wait_for_result();
}

void Injection::create_thread(const std::string& request) {
  const SignalsBlocked blocked;
  std::minstd_rand random{std::random_device{}()};
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + kPlaceTimeout;
  for (;;) {
    const std::vector<int> threads = threads_of(target_.pid);
    if (threads.empty() && !exists(target_.pid, static_cast<uint32_t>(target_.pid)))
      fail(kOwnFailure, "process {} has ended", target_.pid);
    for (const int tid : threads) {
      std::optional<Tracee> thread = Tracee::stop_if_repeatable(tid);
      const auto own_code = std::chrono::steady_clock::now() - begin > kAvoidsOwnCode
                                ? Tracee::OwnCode::Examined
                                : Tracee::OwnCode::Avoided;
      if (!thread || !thread->is_at_safe_place(target_, own_code) || !thread->prepare(target_)) continue;
      if (!memory_) {
        const long memory = thread->system_call(
            target_.system_call, SYS_mmap,
            {0, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}, 0});
        expect(memory, "map memory");
        memory_ = static_cast<uint64_t>(memory);
        write_memory(target_.pid, memory_, prof_injected_begin,
                     static_cast<size_t>(prof_injected_end - prof_injected_begin));
        expect(thread->system_call(target_.system_call, SYS_mprotect,
                                   {memory_, kCodeBytes, PROT_READ | PROT_EXEC}),
               "make memory executable");
      }
      const uint64_t at = memory_ + kCodeBytes;
      std::string placed = request;
      auto& header = *reinterpret_cast<Request*>(placed.data());
      for (uint64_t* text : {&header.library, &header.function, &header.text}) *text += at;
      const uint64_t call_stack = at + kRequestBytes + kCallStackBytes;
      pthread_attr_init(&header.attributes);
      pthread_attr_setdetachstate(&header.attributes, PTHREAD_CREATE_DETACHED);
      pthread_attr_setstack(&header.attributes, reinterpret_cast<void*>(call_stack), kThreadStackBytes);
      write_memory(target_.pid, at, placed.data(), placed.size());
      const uint64_t error = thread->call(
          target_.pthread_create,
          {at + offsetof(Request, thread), at + offsetof(Request, attributes), memory_, at}, call_stack,
          memory_ + static_cast<uint64_t>(prof_injected_return - prof_injected_begin));
      expect(-static_cast<long>(error & 0xfff), "create a thread");
      thread.reset();
      constexpr uint32_t kGoesOn = 1;
      write_memory(target_.pid, at + offsetof(Request, goes_on), &kGoesOn, sizeof kGoesOn);
      return;
    }
    if (std::chrono::steady_clock::now() > end)
      fail(kOwnFailure,
           "no thread of process {} is at a place where the runtime can be loaded: all are in the C library, "
           "the loader or an allocator, or in system calls that must not be interrupted; try again",
           target_.pid);
    std::this_thread::sleep_for(std::chrono::microseconds(100 + random() % 2000));
  }
}

long Injection::wait_for_result() {
  const uint64_t at = memory_ + kCodeBytes;
  const auto begin = std::chrono::steady_clock::now();
  auto last_held = begin;
  bool was_reported = false;
  Request request;
  for (;;) {
    if (!read_request(target_.pid, at, request)) {
      memory_ = 0;
      fail(kOwnFailure, "process {} ended or executed another program", target_.pid);
    }
    const bool ended = request.state != 0 && !exists(target_.pid, request.tid);
    if (ended) break;
    const auto now = std::chrono::steady_clock::now();
    const std::string held = now - begin > kHoldUpTimeout ? held_in_kernel(target_.pid, request.tid) : "";
    if (!held.empty()) last_held = now;
    if (!held.empty() && !was_reported)
      say("the kernel delays the thread that loads the runtime in process {} (in {}); waiting for it",
          target_.pid, held);
    was_reported = was_reported || !held.empty();
    if (now - last_held > kResultTimeout || now - begin > kKernelTimeout) {
      memory_ = 0;  // the thread may return to it
      fail(kOwnFailure,
           "the thread that loads the runtime in process {} is held up, probably by a thread that holds the "
           "loader's lock",
           target_.pid);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  request.error[sizeof request.error - 1] = '\0';
  if (request.state == kFailed)
    fail(kOwnFailure, "process {} cannot load the runtime: {}", target_.pid, request.error);
  return static_cast<long>(request.result);
}

}  // namespace prof

#include "repair/isolate/controller/polled_pages.h"

#include <signal.h>
#include <ucontext.h>

#include <catch2/catch.hpp>

#include "repair/isolate/contract/interface.h"
#include "repair/isolate/pages/own_pages.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

PrivatePages* own = nullptr;

void on_signal(int, siginfo_t*, void* context) {
  share_polled_pages(*own, *static_cast<const ucontext_t*>(context));
}

void handle_signals(PrivatePages& pages) {
  own = &pages;
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
}

// Data that two processes share, on a page that stays common.
struct Meeting {
  pthread_barrier_t* barrier;
  volatile int* polling_process;
  volatile int* is_over;

  explicit Meeting(const CommonPages& common)
      : barrier(common.barrier(1, 0, 2)),
        polling_process(common.at<volatile int>(1, 256)),
        is_over(common.at<volatile int>(1, 512)) {}

  // Sends signals until one arrives at an instruction that reads the word.
  void interrupt() const {
    kill(*polling_process, SIGUSR1);
    usleep(100);
  }
};

uint64_t reason_needed(uint64_t page) {
  uint64_t found = 0;
  needed_common.take([&](uint64_t one, uint64_t why) {
    if (one == page) found = why;
    return false;
  });
  return found;
}

}  // namespace

TEST_CASE("a page on which a thread polls what another has written becomes common") {
  const CommonPages common(2);
  const Meeting meeting(common);
  auto* const words = common.at<volatile uint64_t>(0);
  const auto converted = [&](size_t number, PrivatePages& pages) {
    handle_signals(pages);
    bool right = pages.isolate(common.page(0));
    if (number == 0) *meeting.polling_process = getpid();
    pthread_barrier_wait(meeting.barrier);
    if (number == 0) {
      while (words[3] == 0) {
      }
      *meeting.is_over = 1;
      return right && words[3] == 7 && !pages.holds(common.page(0)) &&
             reason_needed(common.page(0)) == static_cast<uint64_t>(WhyShared::TrueSharing);
    }
    words[3] = 7;
    pages.commit();
    while (!*meeting.is_over) meeting.interrupt();
    return right && pages.holds(common.page(0));
  };
  CHECK(in_converted_threads(2, converted) == 2);
}

TEST_CASE("a page on which a thread reads its own words alone stays private, whatever others write there") {
  const CommonPages common(2);
  const Meeting meeting(common);
  auto* const words = common.at<volatile uint64_t>(0);
  const auto converted = [&](size_t number, PrivatePages& pages) {
    handle_signals(pages);
    bool right = pages.isolate(common.page(0));
    if (number == 0) *meeting.polling_process = getpid();
    pthread_barrier_wait(meeting.barrier);
    if (number == 0) {
      while (!*meeting.is_over) words[4] = words[4] + words[5];
      return right && pages.is_outdated() && pages.holds(common.page(0)) &&
             reason_needed(common.page(0)) == 0;
    }
    words[3] = 7;
    pages.commit();
    for (int i = 0; i < 100; ++i) meeting.interrupt();
    *meeting.is_over = 1;
    return right;
  };
  CHECK(in_converted_threads(2, converted) == 2);
}

#pragma once
// For annotated programs: threads with private pages, in a library that is not annotated (isolated.h). It has
// the functions that annotated code calls, and those that interpose on the C library.

#include <cstddef>
#include <cstdint>

extern "C" {

// Makes memory common and begins a session, like isolated_start().
void isolated_pages_start();

// Converts the calling thread and makes the pages that contain these bytes private. Returns false if the
// thread is at home, as in a handler that interrupted a region.
bool isolated_pages_take(const void* address, size_t bytes);
// Makes them private when the thread is converted by another caller.
void isolated_pages_want(const void* address, size_t bytes);
// Makes everything common again and brings the thread home.
void isolated_pages_leave();
bool isolated_pages_are_own(const void* address);

struct IsolatedPagesCounts {
  uint64_t commits;  // of the calling converted thread
  uint64_t put_off;  // how often handlers found an open region, in all threads
};
IsolatedPagesCounts isolated_pages_counts();

// For threads that have to start together. With 0 a thread enters the meeting point of `threads` threads, and
// gets a number. With that number it gets 0 once all are there.
uint64_t isolated_pages_meet(int threads, uint64_t number);

// Lets other threads run without a commit.
void isolated_pages_yield();
// Returns the time in ns without calling the C library.
uint64_t isolated_pages_now();
}

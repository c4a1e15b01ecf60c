#pragma once
// Private pages for the converted threads of test programs (isolated.h), whose atomic instructions are looked
// after or not.

extern "C" {

// Sets the room for private pages aside, and plans for the modules of the program where `patches`. Ends the
// program with status 125 where that fails. After isolated_make_common(), before there are converted threads.
void isolated_plan_atomics(bool patches);

// Converted threads map their code with its jumps, rather than write these.
void isolated_keep_patched_code();

// From its next conversion on every converted thread has the page for itself.
void isolated_add_page(void* page);

// How many private pages the calling thread has.
unsigned isolated_pages();
}

namespace hpcrun::test {

// Hooks of the session.
void take_own_pages() noexcept;
void leave_own_pages() noexcept;
bool is_busy_with_own_pages() noexcept;

}  // namespace hpcrun::test

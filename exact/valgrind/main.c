/* Registers the tool, and reads its options.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_options.h"

#include "profexact.h"

Options pe_options;

static Bool read_option(const HChar* argument) {
  if (VG_BOOL_CLO(argument, "--dead-stores", pe_options.dead)) return True;
  if (VG_BOOL_CLO(argument, "--silent-stores", pe_options.silent)) return True;
  if (VG_BOOL_CLO(argument, "--redundant-loads", pe_options.redundant)) return True;
  if (VG_BOOL_CLO(argument, "--count", pe_options.count)) return True;
  if (VG_STR_CLO(argument, "--directory", pe_options.directory)) return True;
  return False;
}

static void print_usage(void) {
  VG_(printf)("    --dead-stores=no|yes      find stores that are overwritten before they are loaded [no]\n"
              "    --silent-stores=no|yes    find stores of what is there already [no]\n"
              "    --redundant-loads=no|yes  find loads of what was loaded before [no]\n"
              "    --count=no|yes            count instructions [no]\n"
              "    --directory=DIR           where to write the dump\n");
}

static void print_debug_usage(void) {
  VG_(printf)("    (none)\n");
}

static void after_fork_in_child(ThreadId tid) {
  pe_restart_after_fork(tid);
}

static void start(void) {
  /* Superblocks must end at calls: each call is then one edge of the calling context tree. */
  VG_(clo_vex_control).guest_chase = False;
  pe_open_directory();
  pe_init_contexts();
  pe_init_pairs();
  pe_init_allocations();
  pe_track_memory();
  VG_(atfork)(NULL, NULL, after_fork_in_child);
}

static void finish(Int exit_code) {
  (void)exit_code;
  pe_write_dump();
}

static void initialize(void) {
  VG_(details_name)("profexact");
  VG_(details_version)(NULL);
  VG_(details_description)("wasted loads and stores, exactly");
  VG_(details_copyright_author)("GPL-2.0-or-later; part of prof");
  VG_(details_bug_reports_to)("the maintainers of prof");
  VG_(details_avg_translation_sizeB)(500);
  VG_(basic_tool_funcs)(start, pe_instrument, finish);
  VG_(needs_command_line_options)(read_option, print_usage, print_debug_usage);
}

VG_DETERMINE_INTERFACE_VERSION(initialize)

#!/usr/bin/env python3
"""`prof cc` adds calls around atomic code and nowhere else, the calls do what they are for, modules are marked if all
of their code is annotated, and all else is as the compiler generates it."""

import os
import re
import shutil
import struct

from compiling import PROF, SOURCE, Compiling, main, run

BEFORE, AFTER, BOTH = 1, 2, 3

# The body of a function with `int a`, `_Atomic int x`, `volatile int v`, `int *p`: its calls, in order
ACCESSES = {
    "return atomic_load_explicit(&x, memory_order_relaxed);": [(4, 0)],
    "return atomic_load_explicit(&x, memory_order_acquire);": [(4, AFTER)],
    "return atomic_load_explicit(&x, memory_order_consume);": [(4, AFTER)],
    "return atomic_load(&x);": [(4, BOTH)],
    "atomic_store_explicit(&x, a, memory_order_relaxed); return 0;": [(4, 0)],
    "atomic_store_explicit(&x, a, memory_order_release); return 0;": [(4, BEFORE)],
    "x = a; return 0;": [(4, BOTH)],
    "return atomic_fetch_add_explicit(&x, a, memory_order_relaxed);": [(4, 0)],
    "return atomic_fetch_or_explicit(&x, a, memory_order_acquire);": [(4, AFTER)],
    "return atomic_exchange_explicit(&x, a, memory_order_release);": [(4, BEFORE)],
    "return atomic_fetch_sub_explicit(&x, a, memory_order_acq_rel);": [(4, BOTH)],
    "return atomic_compare_exchange_strong_explicit(&x, &a, 1, memory_order_relaxed, memory_order_relaxed);": [(4, 0)],
    "return atomic_compare_exchange_weak_explicit(&x, &a, 1, memory_order_release, memory_order_acquire);": [(4, BOTH)],
    "return __sync_fetch_and_add(p, 1);": [(4, BOTH)],
    "return __atomic_load_n((long*)p, __ATOMIC_RELAXED) != 0;": [(8, 0)],
    "return __atomic_test_and_set((char*)p, __ATOMIC_ACQUIRE);": [(1, AFTER)],
    "return v;": [(4, AFTER)],
    "v = a; return 0;": [(4, BEFORE)],
    "return v += a;": [(4, AFTER), (4, BEFORE)],
}
CALLS = {
    "atomic_thread_fence(memory_order_release); return 0;": ["commit"],
    "atomic_thread_fence(memory_order_acquire); return 0;": ["commit"],
    "atomic_thread_fence(memory_order_seq_cst); return 0;": ["commit", "commit"],
    "atomic_signal_fence(memory_order_seq_cst); return 0;": ["commit"],
    "*p = 1; __asm__ volatile(\"\" ::: \"memory\"); return *p;": ["commit"],
    "__asm__ volatile(\"mfence\" ::: \"memory\"); return *p;": ["commit", "commit"],
    "__asm__ volatile(\"pause\" ::: \"memory\"); return *p;": ["commit", "commit"],
    "__asm__ volatile(\"pause\"); return *p;": [],
    "__builtin_ia32_pause(); return *p;": [],
    "__builtin_ia32_mfence(); return *p;": ["commit", "commit"],
    "__asm__ volatile(\"rdtsc\" : \"=a\"(a) : : \"edx\"); return a;": [],
    "__asm__(\"bswap %0\" : \"+r\"(a)); return a;": [],
    "__asm__ volatile(\"lock; incl %0\" : \"+m\"(*p)); return 0;": ["region_begin", "region_end"],
    "__asm__ volatile(\"incl (%0)\" : : \"r\"(p) : \"memory\"); return 0;": ["region_begin", "region_end"],
    "__asm__ goto(\"jmp %l0\" : : : \"memory\" : out); return 1; out: return 0;": ["share"],
    # Variables that do not leave the function.
    "volatile int i = 0; while (i < a) i = i + 1; return i;": [],
    "_Atomic int i = a; return i++;": [],
    "*p = a; return a + *p;": [],
    "return other(p);": [],
}
HEAD = """#include <stdatomic.h>
extern _Atomic int x;
extern volatile int v;
int other(int*);
"""

# Interposes on a program: counts the calls, and makes all accesses work on a second mapping of the page.
FAKE_RUNTIME = """#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__thread void* own_pages __asm__("_ZN6hpcrun9own_pagesE") = (void*)1;
__thread unsigned open_regions __asm__("_ZN6hpcrun12open_regionsE");
static char *page, *view;
static int begun, ended, before, after, commits, shared, regions;
__attribute__((constructor)) static void start(void) {
  const int file = memfd_create("common", 0);
  if (ftruncate(file, 4096)) _exit(1);
  view = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void* hpcrun_atomic_begin(void* address, size_t bytes, unsigned flags) {
  begun += bytes;
  before += flags & 1;
  const ptrdiff_t offset = (char*)address - page;
  return offset >= 0 && offset < 4096 ? view + offset : address;
}
void hpcrun_atomic_end(void* address, size_t bytes, unsigned flags) {
  ended += bytes;
  after += flags >> 1;
}
void hpcrun_commit(void) { ++commits; }
void hpcrun_share(void* address, size_t bytes) { shared += bytes; }
void hpcrun_region_begin(void) { ++regions; }
void hpcrun_region_end(void) { --regions; }

void* the_page(void) { return page; }
void print_counts(void) {
  printf("%d %d %d %d %d %d %d\\n", begun, ended, before, after, commits, shared, regions + open_regions);
}
"""
WORK = """#include <atomic>
#include <cstdio>

extern "C" {
void* the_page();
void print_counts();
}
struct Large {
  long one, two, three;
};
int main() {
  auto* number = static_cast<int*>(the_page());
  *number = 5;  // on the page itself
  std::atomic_ref<int> atomic(*number);
  const int first = atomic.fetch_add(7, std::memory_order_relaxed);
  int expected = 7;
  const bool exchanged = atomic.compare_exchange_strong(expected, 40, std::memory_order_acq_rel);
  atomic.store(atomic.load(std::memory_order_acquire) + 2, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_acq_rel);
  __asm__ volatile("incl %0" : "+m"(*number));
  std::atomic<Large> large{Large{1, 2, 3}};
  std::printf("%d %d %d %d %ld ", first, exchanged, *number, atomic.load(), large.load().three);
  print_counts();
  return 0;
}
"""

ATOMIC = """#include <stdatomic.h>
_Atomic int counter;
int NAME(void) { return ++counter; }
"""
MAIN = "int one(void);\nint main(void) { return one() - 1; }\n"


def note_of(file):
    """Returns (version, complete) of prof's note, or None."""
    data = file.read_bytes()
    at = data.find(struct.pack("<III8s", 5, 8, 1, b"prof"))
    return None if at < 0 else struct.unpack_from("<II", data, at + 20)


class Calls(Compiling):
    def functions(self, *options):
        """Returns prof's calls in each function of the tables, by its body."""
        bodies = [*ACCESSES, *CALLS]
        text = HEAD + "".join(f"int f{i}(int a, int* p) {{ {body} }}\n" for i, body in enumerate(bodies))
        self.write("all.c", text)
        self.compile("-Wno-unused", "-S", "-emit-llvm", *options, "all.c", "-o", "all.ll")
        code = (self.folder / "all.ll").read_text()
        found = {}
        for i, body in enumerate(bodies):
            lines = re.search(rf"define [^\n]*@f{i}\(.*?\n}}", code, re.S).group()
            found[body] = re.findall(r"call [^\n]*@prof_(\w+)\(([^\n]*)\)", lines)
        return found

    def test_are_where_code_works_atomically_and_nowhere_else(self):
        for options in (["-O2"], ["-O0"], ["-Os", "-fno-pie"]):
            found = self.functions(*options)
            for body, accesses in ACCESSES.items():
                expected = [(name, f"i64 {size}, i32 {flags}") for size, flags in accesses
                            for name in ("atomic_begin", "atomic_end")]
                calls = [(name, arguments.partition(", ")[2]) for name, arguments in found[body]]
                self.assertEqual(calls, expected, f"{options} {body}")
            for body, expected in CALLS.items():
                self.assertEqual([name for name, _ in found[body]], expected, f"{options} {body}")

    def test_accesses_are_made_by_the_address_that_they_are_told(self):
        self.write("fake.c", FAKE_RUNTIME)
        self.write("work.cpp", WORK)
        self.checked(["gcc", "-O1", "-c", "fake.c", SOURCE / "repair/isolate/preload/region_calls.S"], cwd=self.folder)
        for optimization in ("-O0", "-O2"):
            self.compile(optimization, "-std=c++20", "work.cpp", "fake.o", "region_calls.o", "-o", "work", "-latomic", language="c++")
            printed = run([self.folder / "work"]).stdout.split()
            # 5 on the page, where assembly adds 1; 0 in its view: +7, 7 to 40, +2.
            self.assertEqual(printed[:5], ["0", "1", "6", "42", "3"])
            begun, ended, before, after, commits, shared, regions = map(int, printed[5:])
            self.assertEqual((begun, ended, before, after), (5 * 4, 5 * 4, 3, 3))
            self.assertEqual(regions, 0)
            self.assertEqual(shared, 24)
            self.assertEqual(commits, 3)


class Marks(Compiling):
    def setUp(self):
        super().setUp()
        self.write("one.c", ATOMIC.replace("NAME", "one"))
        self.write("two.c", ATOMIC.replace("NAME", "two").replace("counter", "other"))
        self.write("main.c", MAIN)

    def test_a_module_of_which_all_code_is_annotated(self):
        for number, options in enumerate((["-O2"], ["-O0", "-g"], ["-fuse-ld=lld"], ["-no-pie", "-fno-pie"],
                                          ["-O2", "-shared", "-fPIC"], ["-Wl,--gc-sections", "-ffunction-sections"])):
            if "-fuse-ld=lld" in options and not shutil.which("ld.lld"):
                continue
            out = self.folder / f"out{number}"
            self.compile(*options, "one.c", "main.c", "-o", out)
            self.assertEqual(note_of(out), (1, 1), options)
            if "-shared" not in options:
                self.checked([out])

    def test_stays_marked_when_it_is_stripped(self):
        self.compile("one.c", "main.c", "-o", "out")
        self.checked(["strip", "out"], cwd=self.folder)
        self.assertEqual(note_of(self.folder / "out"), (1, 1))

    def test_by_its_name_where_none_is_given_and_from_response_files(self):
        self.compile("one.c", "main.c")
        self.assertEqual(note_of(self.folder / "a.out"), (1, 1))
        self.write("rest", "one.o 'main.o'\n-o \"the result\"")
        self.compile("-c", "one.c", "main.c")
        self.compile("@rest")
        self.assertEqual(note_of(self.folder / "the result"), (1, 1))

    def test_a_module_of_which_some_objects_are_not_annotated_is_not_marked(self):
        self.compile("-c", "one.c", "main.c")
        self.checked(["gcc", "-c", "two.c"], cwd=self.folder)
        self.compile("one.o", "main.o", "two.o", "-o", "mixed")
        self.assertEqual(note_of(self.folder / "mixed"), (1, 0))
        self.checked([self.folder / "mixed"])
        # Neither is one with functions in assembly or in an archive, or one linked by another compiler.
        self.write("assembly.s", ".globl two\n.text\ntwo: ret\n.section .note.GNU-stack,\"\",@progbits\n")
        self.compile("one.c", "main.c", "assembly.s", "-o", "assembly")
        self.assertEqual(note_of(self.folder / "assembly"), (1, 0))
        self.write("uses.c", "int two(void);\nint one(void) { return two(); }\n")
        self.checked(["ar", "rc", "libtwo.a", "two.o"], cwd=self.folder)
        self.compile("uses.c", "main.c", "-L.", "-ltwo", "-o", "archive")
        self.assertEqual(note_of(self.folder / "archive"), (1, 0))
        self.checked(["gcc", "one.o", "main.o", "-o", "linked"], cwd=self.folder)
        self.assertEqual(note_of(self.folder / "linked"), (1, 0))
        self.checked([self.folder / "linked"])

    def test_without_symbols_nobody_knows(self):
        self.compile("-s", "one.c", "main.c", "-o", "out")
        self.assertEqual(note_of(self.folder / "out"), (1, 0))

    def test_archives_of_annotated_objects_are_annotated(self):
        self.compile("-c", "two.c")
        self.checked(["ar", "rc", "libtwo.a", "two.o"], cwd=self.folder)
        self.write("uses.c", "int two(void);\nint one(void) { return two(); }\n")
        self.compile("uses.c", "main.c", "-L.", "-ltwo", "-o", "archive")
        self.assertEqual(note_of(self.folder / "archive"), (1, 1))


class Driver(Compiling):
    def test_the_exit_status_and_words_are_the_compiler_s(self):
        self.write("bad.c", "int f( {\n")
        done = run([PROF, "cc", "-c", "bad.c"], cwd=self.folder)
        plain = run(["clang-14", "-c", "bad.c"], cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (plain.returncode, plain.stderr))
        for arguments in (["--version"], ["-dumpmachine"], []):
            done, plain = (run([*words, *arguments]) for words in ([PROF, "cc"], ["clang-14"]))
            self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), arguments)

    def test_steps_that_have_no_use_for_the_pass_give_no_warning(self):
        self.write("one.c", ATOMIC.replace("NAME", "one"))
        self.write("empty.s", "nop\n")
        self.compile("-E", "one.c", "-o", "one.i")
        self.compile("-MM", "one.c", "-o", "one.d")
        self.compile("-c", "empty.s")
        self.compile("-c", "-fPIC", "one.c")
        self.compile("-shared", "one.o", "-o", "out")

    def test_without_a_compiler_one_line_says_what_to_install(self):
        done = run([PROF, "cc", "-c", "one.c"], env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, 125)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("install the package clang-14", done.stderr)
        self.assertLess(len(done.stderr), 160)

    def test_its_own_help(self):
        for language in ("cc", "c++"):
            self.assertEqual(run([PROF, language, "--help"]).stdout, run([PROF, "help", language]).stdout)

    def test_builds_of_make_and_cmake(self):
        self.write("main.c", "#include <stdio.h>\nint two(void);\nint main(void) { printf(\"%d\\n\", two()); return 0; }\n")
        self.write("two.cpp", "#include <atomic>\nstd::atomic<int> n;\nextern \"C\" int two() { return n += 2; }\n")
        self.write("Makefile", "both: main.o two.o\n\t$(CXX) $^ -o $@\n")
        words = {"CC": f"{PROF} cc", "CXX": f"{PROF} c++"}
        if run(["which", "make"]).returncode == 0:
            self.checked(["make", *(f"{name}={value}" for name, value in words.items())], cwd=self.folder)
            self.assertEqual(note_of(self.folder / "both"), (1, 1))
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.19)\nproject(both C CXX)\n"
                                     "add_executable(both main.c two.cpp)\n")
        self.checked(["cmake", "-G", "Ninja", "-S", ".", "-B", "made"], cwd=self.folder, env={**os.environ, **words})
        self.checked(["cmake", "--build", "made"], cwd=self.folder)
        self.assertEqual(note_of(self.folder / "made/both"), (1, 1))
        self.assertEqual(run([self.folder / "made/both"]).stdout, "2\n")


main()

"""Compilers, linkers and build systems."""

from program import Program

C_SOURCES = "python3 {sources}/make_c.py 4 300"
OBJECTS = """python3 {sources}/make_c.py 24 400
for part in *.c; do echo $part; done | xargs -P2 -n4 gcc -g -O0 -ffunction-sections -c
rm *.c"""
RUST_HOME = (("RUSTUP_HOME", "/root/.rustup"),)


def linker(name, command, need):
    return Program(name, f"sh -c '{command} {{input}}/*.o -o program && ./program'", setup=OBJECTS,
                   needs=("gcc", need), least_samples=20)


PROGRAMS = (
    Program("gcc", "gcc -O2 -c {input}/part0.c -o part.o", setup=C_SOURCES, needs=("gcc",), quick=True,
            trace=True, hot=("/cc1$", 0.6), processes=3),
    Program("g++", "g++ -O1 -c {sources}/large.cpp -o large.o", needs=("g++",),
            hot=("cc1plus", 0.7), processes=3),
    Program("gcc -flto", "sh -c 'gcc -O2 -flto=2 -frandom-seed=1 {input}/*.c -o program && ./program'",
            setup=C_SOURCES, needs=("gcc", "make"), processes=6),
    Program("clang", "clang -O2 -c {input}/part0.c -o part.o", setup=C_SOURCES, needs=("clang",),
            hot=("LLVM", 0.5)),
    linker("ld.bfd", "gcc -fuse-ld=bfd", "ld.bfd"),
    linker("ld.gold", "gcc -fuse-ld=gold", "ld.gold"),
    linker("lld", "clang -fuse-ld=lld -Wl,--threads=2", "ld.lld"),
    Program("rustc", "rustc -C opt-level=2 {sources}/work.rs -o program", needs=("rustc",), threads=3),
    Program("javac", "javac -d . {sources}/Work.java", needs=("javac",), kind="generated"),
    Program("go build", "go build -trimpath -o program {sources}/work.go", needs=("go",), kind="native",
            environment=(("GOFLAGS", "-p=2"), ("GOCACHE", "{input}/cache"), ("GOTOOLCHAIN", "local")),
            prepare="rm -rf {input}/cache", timeout=300),
    Program("make -j2", "make -s -j2 -f {input}/Makefile", quick=True, processes=10,
            setup=r"""python3 {sources}/make_c.py 6 60
cat > Makefile <<'END'
objects = $(patsubst {input}/%.c,%.o,$(wildcard {input}/*.c))
all: program
	./program
program: $(objects)
	gcc $^ -o $@
%.o: {input}/%.c
	gcc -O1 -c $< -o $@
END""", needs=("make", "gcc")),
    Program("cmake and ninja", "sh -c 'cmake -G Ninja -S {input} -B build && ninja -C build && build/program'",
            setup="""python3 {sources}/make_c.py 4 60
printf '%s\\n' 'cmake_minimum_required(VERSION 3.20)' 'project(p C)' 'file(GLOB files *.c)' \
  'add_executable(program ${files})' > CMakeLists.txt""", needs=("cmake", "ninja", "gcc"), processes=10,
            normalise=((rb"\([0-9.]+s\)", b""), (rb"(?m)^\[[0-9/]+\] .*\n", b"")),
            ignore=("build/CMakeFiles/*", "build/.ninja*", "build/CMakeCache.txt")),
)

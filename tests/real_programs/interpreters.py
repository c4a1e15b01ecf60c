"""Interpreters and virtual machines, and programs in languages with a runtime of their own."""

from program import Program

PROGRAMS = (
    Program("python3", "/usr/bin/python3 {sources}/work.py", needs=("/usr/bin/python3",), quick=True, status=3,
            hot=("python3", 0.6)),
    Program("python3 processes", "/usr/bin/python3 {sources}/threads.py", needs=("/usr/bin/python3",), quick=True,
            trace=True, processes=3, threads=9),
    Program("perl", "perl {sources}/work.pl", needs=("perl",), quick=True, status=255, hot=("perl", 0.5)),
    Program("ruby", "ruby {sources}/work.rb", needs=("ruby",), threads=5),
    Program("ruby --yjit", "ruby --yjit {sources}/work.rb", needs=("ruby",), kind="generated"),
    Program("lua", "lua5.4 {sources}/work.lua", needs=("lua5.4",), status=5),
    Program("luajit", "luajit {sources}/loops.lua", needs=("luajit",), kind="generated"),
    Program("php", "php {sources}/work.php", needs=("php",), status=4),
    Program("php jit", "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=tracing "
            "{sources}/work.php", needs=("php",), status=4, kind="generated"),
    Program("tclsh", "tclsh {sources}/work.tcl", needs=("tclsh",), status=6),
    Program("guile", "guile --no-auto-compile {sources}/work.scm", needs=("guile",), status=9, kind="generated"),
    Program("ocaml", "{input}/program", needs=("ocamlopt",), status=2,
            setup="cp {sources}/work.ml . && ocamlopt -O3 work.ml -o program 2>/dev/null"),
    Program("node", "node {sources}/work.js", needs=("node",), quick=True, kind="generated", threads=4),
    Program("node --perf-basic-prof", "node --perf-basic-prof {sources}/work.js", needs=("node",),
            kind="generated", trace=True, ignore=("isolate-*.log",)),
    Program("java", "java -cp {input} Work", setup="javac -d . {sources}/Work.java", needs=("java", "javac"),
            quick=True, status=7, kind="generated", threads=8),
    Program("java -Xint", "java -Xint -cp {input} Work", setup="javac -d . {sources}/Work.java",
            needs=("java", "javac"), status=7, kind="generated"),
    Program("rust", "{input}/program", setup="rustc -C opt-level=2 {sources}/work.rs -o program", needs=("rustc",),
            status=8, quick=True, threads=5, normalise=((rb"'main' \([0-9]+\)", b"'main'"),)),
    Program("go", "{input}/program", setup="go build -o program {sources}/work.go", needs=("go",),
            status=6, environment=(("GOCACHE", "{input}/cache"), ("GOTOOLCHAIN", "local"))),
    Program("go below a shell", "sh -c '{input}/program; exit $?'", status=6, needs=("go",), processes=2,
            setup="go build -o program {sources}/work.go",
            environment=(("GOCACHE", "{input}/cache"), ("GOTOOLCHAIN", "local"))),
    Program("bash", "bash -c 'for ((i = 0; i < 200000; ++i)); do s=$((s + i * 7 % 13)); done; "
            "for f in $(seq 60); do (echo $f) | cat > /dev/null; done; trap \"echo trapped\" USR1; kill -USR1 $$; "
            "echo $s; exit 12'", needs=("bash",), quick=True, status=12, processes=100),
    Program("dash", "dash -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; "
            "for f in $(seq 60); do expr $f + $i; done; exit 13'", needs=("dash",), quick=True, status=13,
            processes=60),
    Program("zsh", "zsh -fc 'integer s i; for ((i = 0; i < 300000; ++i)); do ((s += i * 7 % 13)); done; "
            "a=({1..5000}); print ${#${(o)a}} $s ${(j.:.)a[1,5]}; print $(seq 3 | wc -l); exit 14'", needs=("zsh",),
            status=14),
    Program("busybox", "busybox sh -c 'seq 200000 | busybox awk \"{ s += \\$1 % 7 } END { print s }\"; "
            "seq 100000 | busybox sort -r | busybox md5sum; exit 15'", needs=("busybox",), status=15,
            kind="no CFI"),
    Program("gawk", "gawk 'BEGIN { for (i = 0; i < 1500000; ++i) { n[i * 7919 % 10007]++; s = s substr(i, 1, i % 2) } "
            "print length(n), length(s); exit 16 }'", needs=("gawk",), status=16),
    Program("bc", "sh -c 'echo \"scale=1500; 4*a(1); 2^4000 % 1000007\" | bc -l'", needs=("bc",)),
)

"""Compressors, media encoders, everyday tools, and programs that do something unusual."""

from program import Program

TEXT = "python3 {sources}/text.py 250000 > text"
TREE = "mkdir tree && (cd tree && python3 {sources}/make_c.py 60 100)"
TONE = "ffmpeg -loglevel error -f lavfi -i sine=frequency=440:duration=40 -f lavfi -i anoisesrc=d=40:a=0.1:seed=5 " \
       "-filter_complex amix -ar 44100 tone.wav"
LIBRARIES = " ".join(f"/usr/lib/x86_64-linux-gnu/{name}" for name in (
    "libz.so.1", "libsqlite3.so.0", "libcrypto.so.3", "libxml2.so.2", "liblzma.so.5", "libstdc++.so.6"))
LIBRARY_FOLDER = "/usr/lib/x86_64-linux-gnu"


def compressor(name, command, **options):
    return Program(name, command, setup=TEXT, needs=(command.split()[0],), **options)


def allocator(name, library):
    return Program(name, "{input}/program", setup="g++ -O2 -pthread {sources}/allocate.cpp -o program",
                   needs=("g++", library), environment=(("LD_PRELOAD", library),), threads=4)


PROGRAMS = (
    compressor("xz", "xz -T2 --block-size=4MiB -1 -c {input}/text", quick=True, hot=("liblzma", 0.8), threads=3),
    compressor("zstd", "zstd -q -9 -T2 -c {input}/text", threads=2),
    compressor("gzip", "gzip -9 -c -n {input}/text"),
    compressor("bzip2", "bzip2 -9 -c {input}/text"),
    compressor("lz4", "lz4 -q -12 -c {input}/text"),
    compressor("brotli", "brotli -q 6 -c {input}/text"),
    compressor("7z", "7z a -mx=5 -mtm=off -mmt=2 -bd archive.7z {input}/text", threads=2,
               normalise=((rb"(?m)^.*(?:MHz|RAM|CPU).*$", b""),)),
    Program("ffmpeg with x264", "ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=duration=3:size=640x360 "
            "-c:v libx264 -threads 2 -preset medium -bitexact video.mp4", needs=("ffmpeg",), threads=3, trace=True),
    Program("x264", "x264 --quiet --no-progress --threads 2 --demuxer y4m -o video.264 {input}/video.y4m", needs=("x264", "ffmpeg"),
            setup="ffmpeg -loglevel error -f lavfi -i mandelbrot=size=480x270 -t 6 -pix_fmt yuv420p video.y4m",
            threads=2, normalise=((rb"[0-9.]+ fps", b"N fps"),)),
    Program("lame", "lame --quiet -V2 {input}/tone.wav tone.mp3", setup=TONE, needs=("lame", "ffmpeg")),
    Program("flac", "flac --totally-silent -8 -e -p {input}/tone.wav -o tone.flac", setup=TONE, needs=("flac", "ffmpeg")),
    Program("imagemagick", "convert-im6.q16 -seed 5 -size 800x600 plasma:red-blue -blur 0x8 -swirl 90 -resize 400x "
            "-strip -define png:exclude-chunks=date,time picture.png", needs=("convert-im6.q16",)),
    Program("openmp", "{input}/program", setup="gcc -O2 -fopenmp {sources}/openmp.c -o program", needs=("gcc",),
            status=11, quick=True, threads=2),
    Program("open mpi", "mpirun -n 2 --allow-run-as-root --oversubscribe {input}/program",
            setup="mpicc -O2 {sources}/mpi.c -o program", needs=("mpirun", "mpicc"), processes=3, trace=True,
            environment=(("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"))),
    Program("sqlite", "sqlite3 :memory: '.read {sources}/rows.sql'", needs=("sqlite3",), quick=True,
            hot=("libsqlite3", 0.7)),
    Program("git", "sh -c 'git init -q r && cd r && git config gc.auto 0 && cp -r {input}/tree . && git add . && "
            "git -c user.name=a -c user.email=b@c commit -q -m first && git gc -q --aggressive && git log --stat | wc -l "
            "&& git fsck && git cat-file --batch-all-objects --batch-check | sha256sum'", setup=TREE, needs=("git",),
            quick=True, ignore=("r/.git/*",), processes=5,
            environment=(("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"),
                         ("GIT_CONFIG_GLOBAL", "/dev/null"))),
    Program("tar", "sh -c 'for i in 1 2 3 4 5 6; do tar --sort=name --mtime=@0 -czf $i.tar.gz -C {input} tree; done; "
            "mkdir out && tar -xzf 1.tar.gz -C out && diff -r out/tree {input}/tree && echo same'",
            setup=TREE, needs=("tar", "gzip"), ignore=("*.gz",)),
    Program("rsync", "rsync -rc --stats {input}/tree/ copy/", setup=TREE, needs=("rsync",), processes=3,
            normalise=((rb"(?m)^(File list|sent |Total bytes|Literal|total size).*$", b""),), least_samples=10),
    Program("sort", "sort --parallel=2 -S 20M -k2 -o sorted {input}/text", setup=f"{TEXT} && cat text text text > texts && mv texts text", needs=("sort",)),
    Program("grep", "grep -cE '(words|every) [a-z]+ .*(7[0-9]+)\\1?$' {input}/text", setup=TEXT, needs=("grep",),
            quick=True),
    Program("jq", "jq '[.[] | select(.a % 7 == 3) | .b | ascii_upcase] | sort | length' {input}/rows.json",
            setup="""python3 -c 'import json; print(json.dumps([{"a": i, "b": hex(i * 7919)} for i in range(150000)]))' \
> rows.json""", needs=("jq",)),
    Program("openssl", "openssl speed -seconds 1 -bytes 8192 sha256", needs=("openssl",),
            normalise=((rb"\s*[0-9.]+k?", b" N"),), hot=("libcrypto", 0.9)),
    Program("qt", "{input}/program", needs=("g++", "/usr/include/x86_64-linux-gnu/qt6"), status=3,
            environment=(("QT_QPA_PLATFORM", "offscreen"), ("XDG_RUNTIME_DIR", "/tmp")),
            setup="g++ -O1 -fPIC {sources}/qt.cpp -o program $(pkg-config --cflags --libs Qt6Widgets)"),
    Program("dlopen", f"{{input}}/program {LIBRARIES}", setup="gcc -O1 {sources}/dlopens.c -o program", quick=True,
            needs=("gcc", *LIBRARIES.split())),
    allocator("jemalloc preloaded", f"{LIBRARY_FOLDER}/libjemalloc.so.2"),
    allocator("tcmalloc preloaded", f"{LIBRARY_FOLDER}/libtcmalloc.so.4"),
    Program("jemalloc linked", "{input}/program", needs=("g++", f"{LIBRARY_FOLDER}/libjemalloc.so"), threads=4,
            setup="g++ -O2 -pthread {sources}/allocate.cpp -o program -ljemalloc"),
    Program("tcmalloc linked", "{input}/program", needs=("g++", f"{LIBRARY_FOLDER}/libtcmalloc.a"), threads=4,
            setup="g++ -O2 -pthread {sources}/allocate.cpp -o program -Wl,--push-state,-Bstatic -ltcmalloc_minimal "
                  "-Wl,--pop-state"),
    Program("gdb", "gdb -q -nx -batch -ex 'break checkpoint' -ex run -ex 'print x % 1000' -ex 'finish' -ex 'delete' "
            "-ex continue -ex 'print $_exitcode' {input}/program", needs=("gdb", "gcc"), quick=True,
            setup="gcc -g -O1 {sources}/debuggee.c -o program", environment=(("DEBUGINFOD_URLS", ""),),
            normalise=((rb"0x[0-9a-f]+", b"ADDRESS"), (rb"process [0-9]+", b"process N"))),
    Program("strace", "strace -f -e trace=openat -o log {input}/program", needs=("strace", "gcc"), status=3,
            setup="gcc -g -O1 {sources}/debuggee.c -o program", ignore=("log",)),
    Program("valgrind", "valgrind -q --tool=none {input}/program", needs=("valgrind", "gcc"), kind="unmeasured",
            setup="gcc -O1 {sources}/openmp.c -fopenmp -o program", status=11),
    Program("gnuplot", "gnuplot -e \"set terminal svg; set output 'plot.svg'; set samples 20000; set isosamples 200; "
            "splot sin(x)*cos(y) with lines, besj0(x**2+y**2)\"", needs=("gnuplot",)),
    Program("ghostscript", "gs -q -dBATCH -dNOPAUSE -sDEVICE=png16m -r150 -sOutputFile=page%d.png {input}/page.ps",
            needs=("gs",), setup="""cat > page.ps <<'END'
%!PS
/Times-Roman findfont 12 scalefont setfont
0 1 300 { dup 2 mul 50 add exch 17 mul 700 mod 20 add moveto (the same words) show } for
0 0.5 360 { gsave 300 400 translate rotate 0 0 moveto 250 0 lineto stroke grestore } for
showpage
END"""),
    Program("graphviz", "dot -Tsvg -o graph.svg {input}/graph.dot", needs=("dot",),
            setup="""python3 -c 'print("digraph {", *(f"n{i} -> n{i * 7 % 720};" for i in range(1440)), "}")' > graph.dot"""),
    Program("latex", "pdflatex -interaction=batchmode document.tex", needs=("pdflatex",),
            prepare="cp {input}/document.tex .", environment=(("SOURCE_DATE_EPOCH", "0"), ("FORCE_SOURCE_DATE", "1")),
            setup=r"""python3 - > document.tex <<'END'
print(r"\documentclass{article}\pdftrailerid{}\begin{document}")
for i in range(400):
    print(rf"\section{{Part {i}}} Some words and $\sum_{{k=0}}^{{{i}}} k^2$. " + "More words follow here. " * 40)
print(r"\end{document}")
END""", ignore=("*.log",)),
)

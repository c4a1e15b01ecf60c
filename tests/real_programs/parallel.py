"""Multithreaded programs: compressors, encoders, numerics, genomics, and others that Debian has."""

from program import Program

LIBRARY_FOLDER = "/usr/lib/x86_64-linux-gnu"
TEXT = "python3 {sources}/text.py 500000 > text"
TREE = "mkdir tree && (cd tree && python3 {sources}/make_c.py 80 300)"
COPIES = TEXT + "\nmkdir tree && for n in 1 2 3 4 5 6 7 8; do cp text tree/$n; done"
PICTURE = "ffmpeg -loglevel error -f lavfi -i testsrc2=size=3200x2400 -frames:v 1 picture.ppm"
VIDEO = "ffmpeg -loglevel error -f lavfi -i mandelbrot=size=480x270 -t 4 -pix_fmt yuv420p video.y4m"
GENOME = "python3 {sources}/make_genome.py 400000 30000"
IN_TWO = (("OMP_NUM_THREADS", "2"),)


def compressor(name, command, **options):
    return Program(name, command, setup=TEXT, needs=(command.split()[0],), threads=3, **options)


def of_picture(name, command, **options):
    return Program(name, command, setup=PICTURE, needs=(command.split()[0], "ffmpeg"), threads=2,
                   environment=IN_TWO, **options)


def encoder(name, command, **options):
    return Program(name, command, setup=VIDEO, needs=(command.split()[0], "ffmpeg"), threads=3, **options)


def of_genome(name, command, need, setup="", **options):
    return Program(name, command, setup=f"{GENOME}\n{setup}", needs=(need,), threads=2, **options)


PROGRAMS = (
    compressor("pigz", "pigz -p2 -9 -n -c {input}/text"),
    compressor("pbzip2", "pbzip2 -p2 -k -c {input}/text"),
    compressor("lbzip2", "lbzip2 -n2 -k -c {input}/text"),
    compressor("plzip", "plzip -n2 -3 -B1MiB -c {input}/text"),
    compressor("tarlz", "tarlz -n2 -1 -C {input} -cf archive.tar.lz text"),
    compressor("pixz", "pixz -p2 -1 -t {input}/text text.xz"),
    compressor("lrzip", "lrzip -q -p2 -L5 -w1 -o text.lrz {input}/text > /dev/null"),
    compressor("bgzip", "bgzip -@2 -l9 -c {input}/text"),
    Program("par2", "par2 create -q -q -t2 -r20 -B {input} text.par2 {input}/text", setup=TEXT, needs=("par2",), threads=2),
    Program("mksquashfs", "mksquashfs {input}/tree tree.sqfs -quiet -no-progress -processors 2 -comp xz -mkfs-time 0 "
            "-all-time 0", setup=TREE, needs=("mksquashfs",), threads=4),
    Program("unsquashfs", "unsquashfs -quiet -no-progress -processors 2 -d tree {input}/tree.sqfs", needs=("unsquashfs",),
            setup=f"{COPIES}\nmksquashfs tree tree.sqfs -quiet -no-progress -comp xz -no-duplicates", threads=4),
    Program("hashdeep", "sh -c 'hashdeep -j2 -r -l -c md5,sha256,tiger,whirlpool {input}/tree | sort'", setup=COPIES,
            needs=("hashdeep",), threads=2),
    Program("ripgrep", "sh -c 'rg -j2 -c \"^[0-9]+ [a-f0-9]+7.*(words|every) .*[13579]$\" {input}/tree | sort'", setup=COPIES, needs=("rg",), threads=2),
    Program("git index-pack", "git index-pack --threads=2 -o pack.idx {input}/objects.pack", needs=("git",), threads=2,
            setup=f"{TREE}\ngit init -q r && cd r && cp ../tree/*.c . && git add .\n"
            "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do for file in *.c; do echo \"// $n\" >> $file; done; git add .; done\n"
            "git cat-file --batch-all-objects --batch-check='%(objectname)' | git pack-objects -q --stdout > ../objects.pack"),
    encoder("x265", "x265 --log-level none --no-progress --pools 2 --frame-threads 2 --preset fast --input {input}/video.y4m "
            "-o video.265"),
    encoder("svt-av1", "SvtAv1EncApp -i {input}/video.y4m --lp 2 --preset 9 --progress 0 -b video.ivf > /dev/null 2>&1"),
    encoder("aomenc", "aomenc -q --threads=2 --row-mt=1 --tile-columns=1 --cpu-used=6 --limit=25 --ivf -o video.ivf "
            "{input}/video.y4m"),
    of_picture("graphicsmagick", "gm convert {input}/picture.ppm -blur 0x6 -swirl 90 -resize 60% picture.ppm"),
    of_picture("openjpeg", "opj_compress -threads 2 -i {input}/picture.ppm -o picture.jp2 -r 20,10,1 > /dev/null"),
    Program("tachyon", "tachyon {input}/scene.dat -o scene.tga -numthreads 2 -aasamples 4 > /dev/null", needs=("tachyon",), threads=2,
            setup="python3 {sources}/make_scene.py tachyon > scene.dat"),
    Program("povray", "povray +I{input}/scene.pov +Oscene.ppm +FP +W640 +H480 +WT2 -D -A 2> /dev/null", needs=("povray",),
            setup="python3 {sources}/make_scene.py povray > scene.pov", threads=3,
            ignore=("scene.ppm",)),  # differs in every run
    Program("primesieve", "primesieve --quiet -t2 8e9", needs=("primesieve",), threads=2),
    Program("primecount", "primecount -t2 3e14", needs=("primecount",), threads=2),
    Program("pari-gp", "gp -q -f {input}/sum.gp", needs=("gp",), threads=2,
            setup="echo 'default(nbthreads, 2); print(parsum(n = 1, 2000000, eulerphi(n) * core(n) % 97)); quit' > sum.gp"),
    Program("sysbench", "sysbench cpu --threads=2 --time=0 --events=1500 --cpu-max-prime=20000 run", needs=("sysbench",), threads=3,
            normalise=((rb"\s+[0-9.]+(/[0-9.]+|s)?", b" N"),), kind="no CFI"),
    Program("fftw", "{input}/program", setup="gcc -O2 {sources}/fftw.c -o program -lfftw3_threads -lfftw3 -lm -pthread",
            needs=("gcc", "/usr/include/fftw3.h"), threads=2),
    Program("sqlite threads", "{input}/program", setup="gcc -O2 {sources}/sqlite_threads.c -o program -lsqlite3 -pthread",
            needs=("gcc", "/usr/include/sqlite3.h"), threads=3),
    Program("perl threads", "perl {sources}/threads.pl", needs=("perl",), threads=3),
    of_genome("minimap2", "minimap2 -a -t2 -x sr -o reads.sam {input}/genome.fa {input}/reads.fq 2> /dev/null", "minimap2"),
    of_genome("bwa", "bwa mem -t2 -v1 -o reads.sam {input}/genome.fa {input}/reads.fq 2> /dev/null", "bwa",
              setup="bwa index genome.fa"),
    of_genome("bowtie2", "bowtie2-align-s --wrapper basic-0 -p2 --reorder --no-head -x {input}/genome -U {input}/reads.fq -S reads.sam "
              "2> /dev/null", "bowtie2-align-s", setup="bowtie2-build -q genome.fa genome"),
    of_genome("samtools sort", "samtools sort -@2 -m4M --no-PG -o reads.bam {input}/reads.sam 2> /dev/null", "samtools",
              setup="python3 {sources}/make_genome.py 400000 200000"),
    of_genome("vsearch", "sh -c 'vsearch --quiet --threads 2 --usearch_global {input}/few.fa --db {input}/pieces.fa --id 0.8 "
              "--blast6out - | sort'", "vsearch", setup="head -6000 reads.fa > few.fa"),
    of_genome("jellyfish", "sh -c 'jellyfish count -m 21 -s 4M -t2 -o counts.jf {input}/reads.fq && jellyfish histo counts.jf'",
              "jellyfish", ignore=("counts.jf",)),
    of_genome("cd-hit", "cd-hit-est -i {input}/few.fa -o clusters -T 2 -M 0 -c 0.9 > /dev/null", "cd-hit-est",
              setup="head -10000 reads.fa > few.fa"),
    of_genome("clustalo", "clustalo --threads=2 -i {input}/family.fa", "clustalo"),
    of_genome("hmmer", "phmmer --cpu 2 --noali {input}/proteins.fa {input}/proteins.fa", "phmmer",
              normalise=((rb"(?m)^#.*$", b""),)),
)

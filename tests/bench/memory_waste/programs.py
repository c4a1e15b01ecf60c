"""Programs whose stores and loads are compared: built with -O2 -g (bzip2: -O3, with which GCC inlines mainGtU) from Debian's sources, or as Debian ships them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """`build` is shell text that runs in the unpacked sources, `prepare` in the folder of inputs. `command` is run without a shell and leaves
    no files. {source}, {input}, {text} and {cores} are replaced by these
    folders, a file of 12 MB and the number of processors."""

    name: str
    package: str               # whose source is fetched; empty if nothing is built
    command: str               # takes 1 to 5 seconds; its output is discarded
    also: str = ""             # another package, whose source is unpacked into a folder of its name below {source}
    build: str = ""
    prepare: str = ""
    needs: tuple = ()          # (command or file, Debian package that has it)


TEXT = "head -c %d {text} > text"
WAVE = """python3 - <<'END'
import math, struct, wave
with wave.open("tones.wav", "wb") as file:
    file.setparams((2, 2, 44100, 0, "NONE", ""))
    tone = lambda t, hz: math.sin(2 * math.pi * hz * t / 44100 + 3 * math.sin(t / 9000))
    file.writeframes(b"".join(struct.pack("<hh", int(9000 * (tone(t, 440) + tone(t, 1234.5))), int(9000 * (tone(t, 330) + tone(t, 77))))
                              for t in range(44100 * %d)))
END"""
PICTURE = """python3 - <<'END'
import struct, zlib
width = height = 3000
rows = b"".join(b"\\0" + bytes((x * y >> shift) & 255 for x in range(width) for shift in (4, 7, 11)) for y in range(height))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("picture.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                                + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
END"""
SCENE = """cat > scene.pov <<'END'
camera { location <0, 3, -8> look_at 0 }
light_source { <9, 12, -9> rgb 1 }
plane { y, -1 pigment { checker rgb 1 rgb 0.4 } finish { reflection 0.2 } }
#declare N = 0;
#while (N < 80)
  sphere { <mod(N * 7, 9) - 4, mod(N * 5, 4) - 1, mod(N * 11, 13) - 4> 0.6 pigment { rgb <mod(N, 3) / 2, 0.5, mod(N, 5) / 4> }
           normal { bumps 0.4 scale 0.2 } finish { reflection 0.3 phong 0.7 } }
  #declare N = N + 1;
#end
END"""
SQL = """cat > queries.sql <<'END'
create table orders(id integer primary key, customer integer, cents integer, note text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)
  insert into orders select i, (i * 7919) % 4001, (i * 104729) % 9973, 'order ' || (i * 31 % 1009) from n;
create index by_customer on orders(customer, cents);
select count(*), sum(total) from (select customer, sum(cents) as total from orders group by customer having total > 200000);
select note, count(*), max(cents) from orders group by note order by 3 desc, 1 limit 5;
update orders set cents = cents + 1 where customer % 3 = 0;
select sum(cents) from orders where note like '%9%';
END"""
LUA = """cat > sieve.lua <<'END'
local sum = 0
for round = 1, 150 do
  local is_prime = {}
  for i = 2, 400000 do is_prime[i] = true end
  for i = 2, 632 do
    if is_prime[i] then for j = i * i, 400000, i do is_prime[j] = false end end
  end
  local words = {}
  for i = 2, 400000, 97 do words[#words + 1] = (is_prime[i] and "p" or "n") .. i end
  sum = sum + #table.concat(words)
end
print(sum)
END"""
# As its configure script would, which needs libtool.
SQUID = r"""cd biosquid
sed 's/@SQD_UINT16@/unsigned short/; s/@SQD_UINT32@/unsigned int/; s/@SQD_UINT64@/unsigned long/' squid.h.in > squid.h
sed -E 's/^#undef (HAVE_(NTOHS|NTOHL|HTONS|HTONL|STRTOUL|STRTOULL|FTELLO|FSEEKO))\b.*/#define \1 1/; s/(SIZEOF_OFF_T +)-1/\18/
        s/^#undef (SQUID_[A-Z]+)/#define \1 "1.9g"/' squidconf.h.in > squidconf.h
gcc -O2 -g -c $(ls *.c | grep -v _main.c)
ar rc libsquid.a *.o
cd ..
"""
AWK = """'{ for (i = 1; i <= NF; ++i) ++seen[$i] } END { for (word in seen) { n += seen[word]; ++words } print n, words }'"""

PROGRAMS = [
    Program("bzip2", "bzip2", "{source}/bzip2 -kc {input}/text", prepare=TEXT % 12_000_000,
            build="gcc -O3 -g -D_FILE_OFFSET_BITS=64 -o bzip2 bzip2.c bzlib.c blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c"),
    Program("hmmer2", "hmmer2", "{source}/src/hmmsearch --cpu 0 {input}/globin.hmm {input}/sequences.fa",
            prepare="{source}/src/hmmbuild globin.hmm {source}/tutorial/globins50.msf && for i in {1..12}; do cat {source}/tutorial/globins630.fa; done > sequences.fa",
            also="biosquid", build=SQUID + "CFLAGS='-O2 -g' ./configure --build=x86_64-pc-linux-gnu && "
            "make -j{cores} -C src MYLIBS='../biosquid/libsquid.a -Wl,--allow-multiple-definition' MYINCDIR=-I../biosquid"),
    Program("sqlite3", "sqlite3", "{source}/sqlite3 :memory: '.read {input}/queries.sql'", prepare=SQL,
            build="CFLAGS='-O2 -g' ./configure --disable-tcl --disable-readline --disable-shared && make -j{cores} sqlite3",
            needs=(("tclsh", "tcl"),)),
    Program("p7zip", "p7zip", "{source}/CPP/7zip/Bundles/Alone/b/g/7za a -txz -mx=3 -mmt=1 -so out.xz {input}/text",
            prepare=TEXT % 8_000_000,
            build="make -j{cores} -C CPP/7zip/Bundles/Alone -f ../../cmpl_gcc.mak DISABLE_RAR=1 DEB_7Z_CFLAGS=-g DEB_7Z_CXXFLAGS=-g"),
    Program("libpng", "libpng1.6", "{source}/pngcp {input}/picture.png /dev/null", prepare=PICTURE, needs=(("/usr/include/zlib.h", "zlib1g-dev"),),
            build="cp scripts/pnglibconf.h.prebuilt pnglibconf.h && gcc -O2 -g -DPNG_INTEL_SSE_OPT=0 -I. -o pngcp contrib/tools/pngcp.c png.c pngerror.c pngget.c pngmem.c pngpread.c pngr[eitu]*.c pngset.c pngtrans.c pngw*.c -lz -lm"),
    Program("povray", "", "povray -D +A -F +I{input}/scene.pov +W240 +H180 +WT1", prepare=SCENE, needs=(("povray", "povray"),)),
    Program("lua", "lua5.4", "{source}/src/lua {input}/sieve.lua", prepare=LUA,
            build="echo '#define DEB_HOST_MULTIARCH \"x86_64-linux-gnu\"' > src/lua5.4-deb-multiarch.h && gcc -std=gnu99 -O2 -g -DLUA_USE_POSIX -DLUA_COMPAT_5_3 -o src/lua $(ls src/*.c | grep -v luac.c) -lm"),
    Program("zstd", "libzstd", "{source}/programs/zstd -17 --single-thread -qc {input}/text", prepare=TEXT % 12_000_000,
            build="make -j{cores} -C programs zstd-release CFLAGS='-O2 -g' HAVE_LZMA=0 HAVE_LZ4=0 HAVE_ZLIB=0"),
    Program("lame", "lame", "{source}/frontend/lame --quiet {input}/tones.wav /dev/null", prepare=WAVE % 240,
            build="CFLAGS='-O2 -g' ./configure --disable-shared --disable-decoder && make -j{cores}"),
    Program("flac", "flac", "{source}/src/flac/flac -8 -s -c {input}/tones.wav", prepare=WAVE % 240,
            build="CFLAGS='-O2 -g' ./configure --disable-shared --disable-ogg --disable-asm-optimizations --disable-cpplibs --disable-doxygen-docs && make -j{cores}"),
    Program("mawk", "mawk", "{source}/mawk " + AWK + 5 * " {input}/text", prepare=TEXT % 12_000_000,
            build="CFLAGS='-O2 -g' ./configure && make"),
    Program("gcc", "bzip2", "{input}/cc1 -quiet -O2 {input}/whole.i -o /dev/null",
            prepare="cat {source}/{blocksort,huffman,compress,decompress,bzlib}.c > whole.c; gcc -E -I{source} whole.c > whole.i; ln -s $(gcc -print-prog-name=cc1) cc1"),
]

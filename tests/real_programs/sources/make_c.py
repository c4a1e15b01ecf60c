"""Writes C sources: make_c.py FILES FUNCTIONS, into the current folder, and a main that calls them all."""

import sys

files, functions = map(int, sys.argv[1:])
for f in range(files):
    with open(f"part{f}.c", "w") as out:
        for n in range(functions):
            out.write(f"""
static unsigned helper{n}(unsigned x, const unsigned *table) {{
  for (unsigned i = 0; i < {n % 13 + 3}; ++i) x = (x ^ table[i & 7]) * {2654435761 + 2 * n}u + {n};
  return x > {n * 7919} ? x - table[{n % 8}] : x + {f};
}}
unsigned part{f}_{n}(unsigned x, const unsigned *table) {{
  unsigned sum = 0;
  for (unsigned i = 0; i < x % 17; ++i) sum += helper{n}(i + x, table) ^ (sum >> {n % 7});
  return sum;
}}
""")
names = [f"part{f}_{n}" for f in range(files) for n in range(functions)]
with open("main.c", "w") as out:
    out.write("#include <stdio.h>\n" + "".join(f"unsigned {n}(unsigned, const unsigned *);\n" for n in names))
    out.write("int main(void) {\n  static const unsigned table[8] = {1, 2, 3, 5, 8, 13, 21, 34};\n  unsigned sum = 0;\n")
    out.write("".join(f"  sum += {n}(sum + 5, table);\n" for n in names))
    out.write('  printf("%u\\n", sum);\n  return 0;\n}\n')

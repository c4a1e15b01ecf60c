"""Writes a genome and a sequencer's reads of it into the current folder: make_genome.py BASES READS.

genome.fa, the same in pieces.fa; reads.fq and reads.fa; reads.sam, the aligned reads; family.fa, proteins.fa: related
sequences.
"""

import random
import sys

READ_BASES = 150
PIECE_BASES = 1000
ERRORS = 3

bases, reads = map(int, sys.argv[1:])
random.seed(7)


def changed(sequence, letters, changes):
    sequence = list(sequence)
    for place in random.sample(range(len(sequence)), changes):
        sequence[place] = random.choice(letters)
    return "".join(sequence)


def write_fasta(path, name, sequences):
    with open(path, "w") as out:
        for number, sequence in enumerate(sequences):
            out.write(f">{name}{number}\n{sequence}\n")


def relatives(letters, length, count):
    ancestor = random.choices(letters, k=length)
    return [changed(ancestor, letters, length // 5) for _ in range(count)]


genome = "".join(random.choices("ACGT", k=bases))
write_fasta("genome.fa", "genome", [genome])
write_fasta("pieces.fa", "piece", [genome[at:at + PIECE_BASES] for at in range(0, bases, PIECE_BASES)])
places = [random.randrange(bases - READ_BASES) for _ in range(reads)]
sequences = [changed(genome[place:place + READ_BASES], "ACGT", ERRORS) for place in places]
write_fasta("reads.fa", "read", sequences)
quality = "I" * READ_BASES
with open("reads.fq", "w") as fastq, open("reads.sam", "w") as sam:
    sam.write(f"@SQ\tSN:genome0\tLN:{bases}\n")
    for number, (place, sequence) in enumerate(zip(places, sequences)):
        fastq.write(f"@read{number}\n{sequence}\n+\n{quality}\n")
        sam.write(f"read{number}\t0\tgenome0\t{place + 1}\t60\t{READ_BASES}M\t*\t0\t0\t{sequence}\t{quality}\n")
write_fasta("family.fa", "relative", relatives("ACGT", 400, 60))
write_fasta("proteins.fa", "protein", relatives("ACDEFGHIKLMNPQRSTVWY", 300, 60))

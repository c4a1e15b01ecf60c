/* Defines the dump of prof exact: what the Valgrind tool writes and prof reads (docs/formats.md). Plain C,
   which both sides include. All numbers are little-endian. SPDX-License-Identifier: Apache-2.0 OR
   GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#define PE_DUMP_MAGIC "profexac"
#define PE_DUMP_VERSION 1

/* PeDumpHeader.searched */
#define PE_DEAD_STORES 1u
#define PE_SILENT_STORES 2u
#define PE_REDUNDANT_LOADS 4u
#define PE_INSTRUCTIONS 8u

/* PeDumpAccess.kind */
enum PeAccessKind {
  PE_ACCESS_STORE = 1,
  PE_ACCESS_LOAD = 2,
  PE_ACCESS_INSTRUCTION = 3, /* counts how often it was executed */
  PE_ACCESS_KERNEL = 4       /* a system call, which wrote to memory; counts nothing */
};

/* PeDumpPair.kind: the numbers of the kinds of waste in measurement files */
enum PePairKind { PE_PAIR_DEAD_STORE = 1, PE_PAIR_SILENT_STORE = 2, PE_PAIR_REDUNDANT_LOAD = 3 };

/* Starts the file. The tables follow in the order of their counts, without gaps, then the strings. Offsets of
   strings count from the start of the strings; each string ends with a zero byte. */
typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t searched; /* PE_... bits */
  int32_t pid;
  int32_t parent_pid;
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  uint64_t end_monotonic_ns;
  uint32_t command;    /* string: the arguments, joined by blanks */
  uint32_t executable; /* string: its path */
  uint64_t modules;
  uint64_t threads;
  uint64_t contexts;
  uint64_t accesses;
  uint64_t pairs;
  uint64_t string_bytes;
} PeDumpHeader;

/* Code of a file, as it was mapped. */
typedef struct {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;
  uint64_t device;
  uint64_t inode;
  uint32_t path; /* string */
  uint32_t reserved;
} PeDumpModule;

typedef struct {
  uint64_t start_ns; /* CLOCK_MONOTONIC */
  uint64_t end_ns;   /* CLOCK_MONOTONIC */
  uint64_t stack_low; /* both 0: not known */
  uint64_t stack_high;
  int32_t tid;
  uint32_t name; /* string */
} PeDumpThread;

/* A calling context. Its id is 1 + its number in the table; its parent's id is smaller. */
typedef struct {
  uint64_t return_address; /* of the call; 0: the thread's start */
  uint32_t parent;         /* id; 0: none. Of a thread's start, the context of its creator */
  uint32_t thread;         /* index */
  uint32_t module;         /* 1 + index of the module that calls; 0: code without a file */
  uint32_t reserved;
} PeDumpContext;

/* An instruction in its calling context. */
typedef struct {
  uint64_t address;
  uint64_t count;   /* executions */
  uint32_t context; /* id */
  uint32_t module;  /* 1 + index; 0: code without a file */
  uint16_t bytes;   /* of one access */
  uint16_t kind;    /* PeAccessKind */
  uint32_t reserved;
} PeDumpAccess;

/* Two accesses to the same bytes, of which one was wasted. */
typedef struct {
  uint64_t address; /* of the first such access */
  uint64_t count;
  uint64_t bytes;
  uint32_t first; /* index of the access */
  uint32_t second;
  uint32_t allocation; /* id of the context that allocated the memory; 0: no known allocation */
  uint16_t access_bytes;
  uint16_t kind; /* PePairKind */
} PeDumpPair;

/* The page as bytes of the command. */
  .section .rodata
  .globl prof_flame_graph_begin, prof_flame_graph_end
prof_flame_graph_begin:
  .incbin "prof/export/flame_graph.html"
prof_flame_graph_end:
  .section .note.GNU-stack, "", @progbits

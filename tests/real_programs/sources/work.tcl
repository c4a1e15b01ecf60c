proc fib {n} { if {$n < 2} { return $n }; return [expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}] }
set words {}
for {set i 0} {$i < 150000} {incr i} { lappend words [format %x [expr {$i * 7919 % 10007}]] }
set sorted [lsort $words]
puts "[fib 20] [lindex $sorted 77] [regexp -all {[a-f]\d} [join $sorted { }]]"
exit 6

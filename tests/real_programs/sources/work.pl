use strict;
my %count;
for my $i (1 .. 400_000) { $count{($i * 7919) % 10007} .= chr(65 + $i % 26) }
my $text = join ' ', map { $count{$_} } sort { $a <=> $b } keys %count;
my $found = () = $text =~ /A[B-F]+G?/g;
$SIG{ALRM} = sub { print "alarm\n" };
alarm 1;
my $sum = 0;
for my $i (1 .. 3_000_000) { $sum += $i % 7 }
sleep 1;
print "$found $sum\n";
$! = 0;
die "ended by die\n";

# Each thread has an interpreter of its own; what is shared is locked.
use strict;
use warnings;
use threads;
use threads::shared;

my %counts : shared;

sub work {
    my ($self) = @_;
    my %words;
    for my $i (1 .. 1_000_000) {
        my $word = sprintf "%x", ($i * 7919 + $self) % 10_007;
        $words{$word} += length $word;
    }
    lock %counts;
    $counts{$_} += $words{$_} for keys %words;
    return scalar keys %words;
}

my @sizes = map { $_->join } map { threads->create(\&work, $_) } 1 .. 3;
my $sum = 0;
$sum += $_ for values %counts;
print "@sizes $sum\n";

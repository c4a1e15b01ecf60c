<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
$words = [];
for ($i = 0; $i < 300000; ++$i) { $words[] = dechex($i * 7919 % 10007); }
sort($words);
$text = implode(" ", $words);
echo fib(27), " ", md5($text), " ", preg_match_all('/[a-f]\d/', $text), "\n";
function gen() { for ($i = 0; $i < 300000; ++$i) yield $i; }
$sum = 0;
foreach (gen() as $value) $sum += $value;
echo $sum, "\n";
exit(4);

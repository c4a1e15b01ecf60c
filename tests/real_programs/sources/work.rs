use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;

fn collatz(mut n: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let (send, receive) = mpsc::channel();
    for part in 0..4u64 {
        let send = send.clone();
        thread::spawn(move || send.send((1..300_000).map(|n| collatz(n + part)).sum::<u64>()).unwrap());
    }
    drop(send);
    let mut sums: Vec<u64> = receive.iter().collect();
    sums.sort();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for i in 0..300_000u64 {
        *counts.entry((i * 7919 % 10_007).to_string()).or_default() += 1;
    }
    let caught = std::panic::catch_unwind(|| {
        let nothing: Option<u32> = None;
        nothing.unwrap()
    });
    println!("{:?} {} {}", sums, counts.len(), caught.is_err());
    std::process::exit(8);
}

module M = Map.Make (Int)
exception Found of int
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () =
  let m = ref M.empty in
  for i = 1 to 300_000 do m := M.add (i * 7919 mod 100_003) i !m done;
  let l = List.sort compare (List.init 300_000 (fun i -> i * 31 mod 10_007)) in
  let caught = ref 0 in
  for i = 1 to 200_000 do try if i mod 2 = 0 then raise (Found i) with Found n -> caught := !caught + n done;
  Printf.printf "%d %d %d %d\n" (fib 32) (M.cardinal !m) (List.nth l 777) !caught;
  exit 2

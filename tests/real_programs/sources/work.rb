words = (1..150_000).map { |i| (i * 7919 % 10007).to_s(36) }
counts = words.group_by(&:itself).transform_values(&:size)
puts counts.sort_by { |word, n| [-n, word] }.first(5).inspect
threads = 4.times.map { |t| Thread.new { (1..120_000).reduce { |a, b| (a * 31 + b + t) % 1_000_003 } } }
puts threads.map(&:value).inspect
fiber = Fiber.new { 50_000.times { |i| Fiber.yield i }; :end }
last = nil
50_001.times { last = fiber.resume }
puts last, words.join.scan(/[a-z]\d/).size
GC.start

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 300000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
local parts = {}
for i = 1, 100000 do parts[#parts + 1] = string.format("%d:%x", i, i * 31) end
local text = table.concat(parts, " ")
local co = coroutine.wrap(function() for i = 1, 200000 do coroutine.yield(i) end end)
local sum = 0
for i = 1, 200000 do sum = sum + co() end
print(fib(29), t[1000], #text, select(2, text:gsub("7", "")), sum)
os.exit(5)

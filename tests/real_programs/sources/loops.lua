local bit = require("bit")
local function mix(n)
  local h = 0
  for i = 1, n do h = bit.bxor(bit.rol(h, 5), i) % 1000003 end
  return h
end
local matrix = {}
for i = 1, 200 do matrix[i] = {} for j = 1, 200 do matrix[i][j] = (i * j) % 17 end end
local sum = 0
for round = 1, 6 do
  for i = 1, 200 do
    local row = matrix[i]
    for j = 1, 200 do
      local x = 0
      for k = 1, 200 do x = x + row[k] * matrix[k][j] end
      sum = (sum + x) % 1000003
    end
  end
end
print(mix(60000000), sum)

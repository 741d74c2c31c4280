-- Returns pairs of each budget that has an open amount, and the sum of its open requests.

local stateKey = KEYS[1]

local fields, sums = redis.call('HGETALL', stateKey), {}
for at = 1, #fields, 2 do
  local id = string.match(fields[at], '^(%d+)h$')
  if id then table.insert(sums, { id, fields[at + 1] }) end
end
return sums

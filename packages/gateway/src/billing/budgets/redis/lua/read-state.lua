-- Returns pairs of each budget that has a field of one kind in the state, and the value: h is the sum of its open
-- requests, w the begin of the window that a reservation has opened.

local stateKey = KEYS[1]
local kind = ARGV[1]

local fields, pairsOfKind = redis.call('HGETALL', stateKey), {}
for at = 1, #fields, 2 do
  local id = string.match(fields[at], '^(%d+)' .. kind .. '$')
  if id then table.insert(pairsOfKind, { id, fields[at + 1] }) end
end
return pairsOfKind

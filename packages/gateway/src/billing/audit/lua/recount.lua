-- Sets the held amount to the sum of the open reservations of a 'user' or 'token'.

local accountKey = KEYS[1]
local holdsKey = KEYS[2]
local ownerKind = ARGV[1]
local ownerId = ARGV[2]

local sum = 0
for _, record in ipairs(redis.call('HVALS', holdsKey)) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount and (ownerKind == 'user' and user or token) == ownerId then sum = sum + tonumber(amount) end
end
redis.call('HSET', accountKey, 'h', string.format('%.0f', sum))
return 1

-- Ends a reservation without a charge; returns 1, or 0 if it is not open.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local seenKey = KEYS[3]
local userKey = KEYS[4]
local tokenKey = KEYS[5]
local requestId = ARGV[1]
local withToken = ARGV[2]

local record = redis.call('HGET', holdsKey, requestId)
if not record or record == 's' or record == 'r' then return 0 end
redis.call('HDEL', holdsKey, requestId)
redis.call('ZREM', leasesKey, requestId)
if string.sub(record, -1) == '+' then redis.call('HDEL', seenKey, requestId) end
local held = tonumber(string.match(record, '^%d+'))
if held > 0 then
  redis.call('HINCRBY', userKey, 'h', -held)
  if withToken == '1' then redis.call('HINCRBY', tokenKey, 'h', -held) end
end
return 1

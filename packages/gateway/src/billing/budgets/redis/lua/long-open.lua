-- Returns id and record of requests whose lease has ended, at most `maxCount`.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local nowGiven = ARGV[1]
local maxCount = ARGV[2]

-- include ../../../../redis/lua/clock.lua
-- include records.lua

local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', leasesKey, '-inf', clock(nowGiven), 'LIMIT', 0, maxCount)) do
  local record = redis.call('HGET', holdsKey, id)
  if record then table.insert(found, id) table.insert(found, record)
  else redis.call('ZREM', leasesKey, id) end
end
return found

-- Returns id, record and reported usage of each expired reservation, at most `maxCount`. Leases without an open
-- reservation are removed.

local leasesKey = KEYS[1]
local holdsKey = KEYS[2]
local seenKey = KEYS[3]
local nowGiven = ARGV[1]
local maxCount = ARGV[2]

-- include ../../../../redis/lua/clock.lua

local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', leasesKey, '-inf', clock(nowGiven), 'LIMIT', 0, maxCount)) do
  local record = redis.call('HGET', holdsKey, id)
  if not record or record == 's' or record == 'r' then redis.call('ZREM', leasesKey, id)
  else
    local seen = ''
    if string.sub(record, -1) == '+' then seen = redis.call('HGET', seenKey, id) or '' end
    table.insert(found, id) table.insert(found, record) table.insert(found, seen)
  end
end
return found

-- Removes charges that the database has; returns how many were still in the stream. The arguments from the fourth on are
-- `chargeCount` stream ids, then as many request ids. Records of open reservations remain.
--
-- Unless `retainMs` is '0', the charges move to another stream, which forgets them after about that time.

local chargesKey = KEYS[1]
local holdsKey = KEYS[2]
local retainedKey = KEYS[3]
local group = ARGV[1]
local chargeCount = ARGV[2]
local retainMs = ARGV[3]

-- include ../../../../redis/lua/clock.lua

local count = tonumber(chargeCount)
local ids, requests = {}, {}
for at = 1, count do ids[at] = ARGV[3 + at] requests[at] = ARGV[3 + count + at] end
if retainMs ~= '0' then
  local oldest = string.format('%.0f', clock('0') - retainMs)
  for _, id in ipairs(ids) do
    local entry = redis.call('XRANGE', chargesKey, id, id)[1]
    if entry then redis.call('XADD', retainedKey, 'MINID', '~', oldest, '*', 'e', entry[2][8]) end
  end
  redis.call('PEXPIRE', retainedKey, retainMs)
end
redis.call('XACK', chargesKey, group, unpack(ids))
local gone = redis.call('XDEL', chargesKey, unpack(ids))
local records, closed = redis.call('HMGET', holdsKey, unpack(requests)), {}
for at = 1, count do
  if records[at] == 's' or records[at] == 'r' then table.insert(closed, requests[at]) end
end
if #closed > 0 then redis.call('HDEL', holdsKey, unpack(closed)) end
return gone

-- Removes charges that the database has; returns how many were still in the stream. The arguments from the third on are
-- `chargeCount` stream ids, then as many request ids. Records of open reservations remain.

local chargesKey = KEYS[1]
local holdsKey = KEYS[2]
local group = ARGV[1]
local chargeCount = ARGV[2]

local count = tonumber(chargeCount)
local ids, requests = {}, {}
for at = 1, count do ids[at] = ARGV[2 + at] requests[at] = ARGV[2 + count + at] end
redis.call('XACK', chargesKey, group, unpack(ids))
local gone = redis.call('XDEL', chargesKey, unpack(ids))
local records, closed = redis.call('HMGET', holdsKey, unpack(requests)), {}
for at = 1, count do
  if records[at] == 's' or records[at] == 'r' then table.insert(closed, requests[at]) end
end
if #closed > 0 then redis.call('HDEL', holdsKey, unpack(closed)) end
return gone

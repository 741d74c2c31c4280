-- Restores a reservation that Redis has lost, or extends the lease of an existing one; returns 1 if it was lost. A
-- closed reservation stays closed.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local userKey = KEYS[3]
local tokenKey = KEYS[4]
local requestId = ARGV[1]
local reserved = ARGV[2]
local newRecord = ARGV[3]
local nowGiven = ARGV[4]
local leaseMs = ARGV[5]
local withToken = ARGV[6]

-- include ../../../../redis/lua/clock.lua

local known = redis.call('HGET', holdsKey, requestId)
if known == 's' or known == 'r' then return 0 end
redis.call('ZADD', leasesKey, clock(nowGiven) + leaseMs, requestId)
if known then return 0 end
redis.call('HSET', holdsKey, requestId, newRecord)
if tonumber(reserved) > 0 then
  redis.call('HINCRBY', userKey, 'h', reserved)
  if withToken == '1' then redis.call('HINCRBY', tokenKey, 'h', reserved) end
end
return 1

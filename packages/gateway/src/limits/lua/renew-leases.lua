-- Extends the leases of a request; the keys are leases.

local nowGiven = ARGV[1]
local requestId = ARGV[2]
local leaseMs = ARGV[3]

-- include ../../redis/lua/clock.lua

local now = clock(nowGiven)
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + tonumber(leaseMs), requestId)
  redis.call('PEXPIRE', key, leaseMs)
end
return 1

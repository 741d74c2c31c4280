-- Ends the leases of a request; the keys are leases.

local requestId = ARGV[1]

for _, key in ipairs(KEYS) do redis.call('ZREM', key, requestId) end
return 1

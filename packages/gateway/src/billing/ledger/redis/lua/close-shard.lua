-- Closes the shard until it is opened in the new epoch.

local epochKey = KEYS[1]
local newEpoch = ARGV[1]

local epoch = redis.call('GET', epochKey)
if epoch and tonumber(epoch) < tonumber(newEpoch) then return redis.call('DEL', epochKey) end
return 0

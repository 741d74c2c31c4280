-- Opens the shard in a new epoch, unless a later epoch already did.

local epochKey = KEYS[1]
local newEpoch = ARGV[1]

local epoch = redis.call('GET', epochKey)
if epoch and tonumber(epoch) >= tonumber(newEpoch) then return 0 end
redis.call('SET', epochKey, newEpoch)
return 1

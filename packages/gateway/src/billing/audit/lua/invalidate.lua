-- Marks an account for reloading, unless it changed since it was read.

local accountKey = KEYS[1]
local readBalance = ARGV[1]
local readVersion = ARGV[2]

local a = redis.call('HMGET', accountKey, 'b', 'v')
if a[1] ~= readBalance or a[2] ~= readVersion then return 0 end
redis.call('HDEL', accountKey, 'e')
redis.call('HINCRBY', accountKey, 'n', 1)
return 1

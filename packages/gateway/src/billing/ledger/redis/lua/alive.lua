-- Records the heartbeat of a replica and returns the replicas that had one within that time.

local replicasKey = KEYS[1]
local replica = ARGV[1]
local withinMs = ARGV[2]

-- include ../../../../redis/lua/clock.lua

local now = clock('0')
redis.call('ZADD', replicasKey, now, replica)
redis.call('ZREMRANGEBYSCORE', replicasKey, '-inf', now - 3600000)
return redis.call('ZRANGEBYSCORE', replicasKey, now - withinMs, '+inf')

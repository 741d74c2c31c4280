-- Announces the begun epoch to all processes, unless a later one was announced.

local recoveringKey = KEYS[1]
local newEpoch = ARGV[1]
local ttlSeconds = ARGV[2]

local latest = tonumber(redis.call('GET', recoveringKey) or '0')
redis.call('SET', recoveringKey, math.max(latest, tonumber(newEpoch)), 'EX', ttlSeconds)
return 1

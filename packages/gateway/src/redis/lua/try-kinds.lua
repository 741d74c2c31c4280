-- Runs one command of each kind that scripts use, so that a Redis user who lacks one is refused at the start.

local probeKey = KEYS[1]

redis.call('TIME')
redis.call('DEL', probeKey)
redis.call('HSET', probeKey, 'a', '1')
redis.call('DEL', probeKey)
redis.call('ZADD', probeKey, 1, 'a')
redis.call('DEL', probeKey)
redis.call('RPUSH', probeKey, 'a')
return redis.call('DEL', probeKey)

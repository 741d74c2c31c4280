-- Removes an entry; the keys are those of keep.lua. Returns the bytes of the entry, 0 if there was none.

local entriesKey = KEYS[1]
local endsKey = KEYS[2]
local bytesKey = KEYS[3]
local entryKey = ARGV[1]

local size = redis.call('HSTRLEN', entriesKey, entryKey)
if size == 0 then return 0 end
redis.call('HDEL', entriesKey, entryKey)
redis.call('ZREM', endsKey, entryKey)
if redis.call('EXISTS', bytesKey) == 1 then redis.call('DECRBY', bytesKey, size) end
return size

-- Keeps an entry. If there is no room, the entries that end first are removed; what has ended goes in any case. All three
-- keys expire if no entry is added for the lifetime of the last one. Returns the bytes of all entries.
--
--   entries  hash: key of the entry -> its text
--   ends     sorted set: key of the entry, scored with the time of its end in milliseconds
--   bytes    sum of the lengths of all texts

local entriesKey = KEYS[1]
local endsKey = KEYS[2]
local bytesKey = KEYS[3]
local entryKey = ARGV[1]
local entry = ARGV[2]
local keepMs = ARGV[3]
local maxBytes = ARGV[4]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local total = tonumber(redis.call('GET', bytesKey) or '0')

local function forget(key)
  total = total - redis.call('HSTRLEN', entriesKey, key)
  redis.call('HDEL', entriesKey, key)
  redis.call('ZREM', endsKey, key)
end

for _, key in ipairs(redis.call('ZRANGEBYSCORE', endsKey, '-inf', now, 'LIMIT', 0, 1000)) do forget(key) end
forget(entryKey)
while total + #entry > tonumber(maxBytes) do
  local first = redis.call('ZRANGE', endsKey, 0, 0)[1]
  if not first then break end
  forget(first)
end
local leftMs = math.max(tonumber(keepMs), redis.call('PTTL', entriesKey))
redis.call('HSET', entriesKey, entryKey, entry)
redis.call('ZADD', endsKey, now + keepMs, entryKey)
redis.call('SET', bytesKey, string.format('%d', total + #entry))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, leftMs) end
return total + #entry

-- Admits a call if fewer than `maxCalls` were admitted within the window; the key is the list of their times. The call
-- counts only if `takes` is '1'. Returns admitted, count and the time until the oldest leaves.

local timesKey = KEYS[1]
local nowGiven = ARGV[1]
local windowMs = ARGV[2]
local maxCalls = ARGV[3]
local takes = ARGV[4]

local now = tonumber(nowGiven)
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local window, limit = tonumber(windowMs), tonumber(maxCalls)
local oldest = redis.call('LINDEX', timesKey, 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', timesKey)
  oldest = redis.call('LINDEX', timesKey, 0)
end
local count = redis.call('LLEN', timesKey)
local admitted = count < limit and 1 or 0
if admitted == 1 and takes == '1' then
  count = redis.call('RPUSH', timesKey, string.format('%d', now))
  redis.call('PEXPIRE', timesKey, window)
  oldest = oldest or now
end
local reset = 0
if oldest then reset = math.max(0, tonumber(oldest) + window - now) end
return {admitted, count, reset}

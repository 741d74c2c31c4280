-- Replaces the estimate of a request with what it has used, in the part of the window in which it was estimated. The
-- keys are windows; the arguments from the third on are, for each, the difference and the milliseconds of a part. No
-- part falls below zero.

local nowGiven = ARGV[1]
local takenAt = ARGV[2]

-- include ../../redis/lua/clock.lua
-- include windows.lua

local now, taken = clock(nowGiven), tonumber(takenAt)
for at, key in ipairs(KEYS) do
  local difference, ms = tonumber(ARGV[at * 2 + 1]), tonumber(ARGV[at * 2 + 2])
  local part, first, total = slide(key, now, ms)
  local was = math.floor(taken / ms)
  local isExpired = was < part - windowParts
  local at = isExpired and part or was
  local counted = tonumber(redis.call('HGET', key, string.format('%d', at)) or '0')
  difference = math.max(difference, -counted)
  if difference > 0 or (difference < 0 and not isExpired) then add(key, at, difference, first, total, ms) end
end
return 1

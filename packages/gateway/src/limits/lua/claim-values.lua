-- As claim.lua, if some claims are of one of many values. The keys are the claims, then for each of these the claim that
-- counts further values together, and the sorted set of the values that are counted alone, by their last use. Behind the
-- arguments of the claims come, for each of these, its place, its value and the most values that are counted alone; the
-- last argument is the number of claims. Behind the answer of claim.lua comes, for each of these, 1 if its value is counted
-- alone, else 0. A set has no more values than that, and forgets those that no window counts any longer.

local nowGiven = ARGV[1]
local requestId = ARGV[2]
local leaseMs = ARGV[3]
local count = tonumber(ARGV[#ARGV])

-- include take-claims.lua

-- As `VALUE_MS` of claims.ts.
local valueMs = 62000

local function isCountedAlone(set, value, most)
  redis.call('ZREMRANGEBYSCORE', set, '-inf', now - valueMs)
  -- After a failover the clock may be behind.
  redis.call('ZREMRANGEBYSCORE', set, now + valueMs, '+inf')
  if not redis.call('ZSCORE', set, value) and redis.call('ZCARD', set) >= most then return false end
  redis.call('ZADD', set, now, value)
  redis.call('PEXPIRE', set, valueMs)
  return true
end

local keys, marks = {}, {}
for at = 1, count do keys[at] = KEYS[at] end
for one = 0, (#KEYS - count) / 2 - 1 do
  local argument = 4 + count * 4 + one * 3
  local place, value, most = tonumber(ARGV[argument]), ARGV[argument + 1], tonumber(ARGV[argument + 2])
  local others, set = KEYS[count + one * 2 + 1], KEYS[count + one * 2 + 2]
  local isAlone = isCountedAlone(set, value, most)
  if not isAlone then keys[place] = others end
  marks[one + 1] = isAlone and 1 or 0
end
local answer = takeClaims(keys)
for _, mark in ipairs(marks) do table.insert(answer, mark) end
return answer

-- Takes all claims of a request or none. `keys` are those of the claims; the arguments from the fourth on are, for each,
-- kind, limit, amount and milliseconds of a part. Returns {place, used, reset} of the claim that does not fit, or {0, now}
-- and, for each claim, used and reset.

-- include ../../redis/lua/clock.lua
-- include windows.lua

-- As `CONCURRENCY_RETRY_MS` of claims.ts.
local concurrencyRetryMs = 1000

local now, id, lease = clock(nowGiven), requestId, tonumber(leaseMs)
local function takeClaims(keys)
  local found = {}
  for at, key in ipairs(keys) do
    local kind, limit, amount, ms = ARGV[at * 4], tonumber(ARGV[at * 4 + 1]), tonumber(ARGV[at * 4 + 2]), tonumber(ARGV[at * 4 + 3])
    if kind == 'concurrency' then
      redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
      local used = redis.call('ZCARD', key)
      if used + amount > limit then return {at, used, concurrencyRetryMs} end
      found[at] = {used}
    else
      local part, first, total = slide(key, now, ms)
      if total + amount > limit then return {at, total, reset(key, first, part, now, ms, total + amount - limit)} end
      found[at] = {total, part, first}
    end
  end
  local answer = {0, now}
  for at, key in ipairs(keys) do
    local kind, amount, ms = ARGV[at * 4], tonumber(ARGV[at * 4 + 2]), tonumber(ARGV[at * 4 + 3])
    local used, part, first = found[at][1], found[at][2], found[at][3]
    table.insert(answer, used + amount)
    if kind == 'concurrency' then
      redis.call('ZADD', key, now + lease, id)
      redis.call('PEXPIRE', key, lease)
      table.insert(answer, concurrencyRetryMs)
    else
      add(key, part, amount, first, used, ms)
      table.insert(answer, reset(key, first, part, now, ms, 1))
    end
  end
  return answer
end

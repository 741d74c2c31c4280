-- A window is a hash of amounts by its parts, with their sum in `t` and the first part that may be present in `f`.
-- There are at most as many parts between `f` and now as the window has, so dropping costs a step for each of them.
-- After a failover the clock may be behind: a window that begins in the far future is forgotten.

-- As `WINDOW_PARTS` of claims.ts.
local windowParts = 60

local function slide(key, now, ms)
  local part = math.floor(now / ms)
  local state = redis.call('HMGET', key, 'f', 't')
  local first, total = tonumber(state[1] or part), tonumber(state[2] or '0')
  local from = part - windowParts
  local isAhead = first > part + windowParts
  if first >= from and not isAhead then return part, first, total end
  if isAhead or first < from - windowParts * 2 then
    redis.call('DEL', key)
    return part, part, 0
  end
  while first < from do
    local gone = redis.call('HGET', key, first)
    if gone then
      total = total - tonumber(gone)
      redis.call('HDEL', key, first)
    end
    first = first + 1
  end
  redis.call('HSET', key, 'f', string.format('%d', first), 't', string.format('%d', total))
  return part, first, total
end
local function add(key, at, amount, first, total, ms)
  redis.call('HINCRBY', key, string.format('%d', at), amount)
  redis.call('HSET', key, 'f', string.format('%d', math.min(first, at)), 't', string.format('%d', total + amount))
  redis.call('PEXPIRE', key, (windowParts + 2) * ms)
end
local function reset(key, first, part, now, ms, left)
  for at = first, part do
    left = left - tonumber(redis.call('HGET', key, string.format('%d', at)) or '0')
    if left <= 0 then return math.max(0, (at + windowParts + 1) * ms - now) end
  end
  return 0
end

-- Reserves in one set of budgets, in order; each request gets a reservation in all of them or in none.
--
-- The arguments from the fourth on are, for each of `budgetCount` budgets: id, limit, '1' if it is hard, window, hours;
-- then for each request: id, user, amount, wished amount or '', kind. A budget with `hours` > 0 opens its window with a
-- reservation, by the clock of Redis, and `window` is not used. The kind is `n` for a request that Redis cannot have,
-- `h` for one that it has unless the request ended, and '' otherwise.
--
-- The answer for each request is 0 if `amount` was granted; {0, granted} if more was; {0, granted, begin, budget, ...} if
-- it opened windows of these budgets; {1, budget that is short, 1 if only open reservations of others make it short,
-- begin of its window or 0}; {2} if the request has ended; {3, epoch} if a budget is not loaded;
-- {4} if the budgets are closed.

local epochKey = KEYS[1]
local stateKey = KEYS[2]
local holdsKey = KEYS[3]
local leasesKey = KEYS[4]
local nowGiven = ARGV[1]
local leaseMs = ARGV[2]
local budgetCount = ARGV[3]

-- include ../../../../redis/lua/clock.lua
-- include records.lua

local epoch, count = redis.call('GET', epochKey), tonumber(budgetCount)
local ids, names, asked, first, timed = {}, {}, {}, 4 + 5 * count, {}
for n = 1, count do
  ids[n] = ARGV[5 * n - 1]
  names[2 * n - 1], names[2 * n] = ids[n], ids[n] .. 'h'
  if ARGV[5 * n + 3] ~= '0' then table.insert(timed, n) end
end
for at, n in ipairs(timed) do names[2 * count + at] = ids[n] .. 'w' end
for at = first, #ARGV, 5 do
  if ARGV[at + 4] ~= 'n' then table.insert(asked, ARGV[at]) end
end
readRecords(holdsKey, asked)
local now = #timed > 0 and math.floor(clock(nowGiven) / 1000)
local windows, opens = {}, {}
-- Returns what is used in the window of now. Two begins within one length are the same window, which began at the first.
local function usedIn(n, window, seen, used)
  local length = 3600 * tonumber(ARGV[5 * n + 3])
  local start = math.max(window, seen)
  if math.min(window, seen) > 0 and math.abs(window - seen) < length then start = math.min(window, seen) end
  if start == 0 or now >= start + length then
    opens[n], windows[n] = true, 0
    return 0
  end
  windows[n] = start
  return start >= window + length and 0 or used
end
local free, open, isRead = {}, {}, true
if count > 0 then
  local values, seen = redis.call('HMGET', stateKey, unpack(names)), {}
  for at, n in ipairs(timed) do seen[n] = tonumber(values[2 * count + at] or 0) end
  for n = 1, count do
    local of, window, used, held = string.match(values[2 * n - 1] or '', '^(%d+) %d+ (%d+) (%d+) (%d+)$')
    if of ~= epoch then isRead = false
    else
      if seen[n] then used = usedIn(n, tonumber(window), seen[n], used)
      elseif tonumber(ARGV[5 * n + 2]) > tonumber(window) then used = 0 end
      open[n] = tonumber(values[2 * n] or 0)
      free[n] = ARGV[5 * n] - used - held - open[n]
    end
  end
end
local mine = table.concat(ids, ',')
local function heldIn(id, before)
  if not before then return 0 end
  if before.of == mine or string.find(',' .. before.of .. ',', ',' .. id .. ',', 1, true) then return before.amount end
  return 0
end
local function shortOf(before, amount)
  for n = 1, count do
    local mine = heldIn(ids[n], before)
    local more = amount - mine
    if more > 0 and free[n] < more and ARGV[5 * n + 1] == '1' then
      return ids[n], free[n] + open[n] - mine >= more and 1 or 0, windows[n] or 0
    end
  end
end
-- Opens the windows that have ended; returns the answer that names them, if there are any.
local function openWindows(granted)
  local answer, fields = { 0, granted, now }, {}
  for _, n in ipairs(timed) do
    if opens[n] then
      opens[n], windows[n] = nil, now
      table.insert(answer, tonumber(ids[n]))
      table.insert(fields, ids[n] .. 'w') table.insert(fields, now)
    end
  end
  if #fields == 0 then return nil end
  redis.call('HSET', stateKey, unpack(fields))
  return answer
end
local answers = {}
for at = first, #ARGV, 5 do
  local id, amount, before, answer = ARGV[at], tonumber(ARGV[at + 2]), records[ARGV[at]], 0
  if not epoch then answer = {4}
  elseif ARGV[at + 4] == 'h' and not before then answer = {2}
  elseif not isRead then answer = {3, epoch}
  else
    local granted = tonumber(ARGV[at + 3]) or 0
    while granted > amount and shortOf(before, granted) do granted = math.floor(granted / 4) end
    granted = math.max(granted, amount)
    local short, isCrowded, window = shortOf(before, granted)
    if short then answer = {1, tonumber(short), isCrowded, window}
    else
      for n = 1, count do free[n] = free[n] - granted + heldIn(ids[n], before) end
      if before then change(before.of, -before.amount) end
      change(mine, granted)
      if count > 0 then put(id, granted, ARGV[at + 1], mine) else drop(id) end
      if granted > amount then answer = {0, granted} end
      answer = #timed > 0 and granted > 0 and openWindows(granted) or answer
    end
  end
  table.insert(answers, answer)
end
write(stateKey, holdsKey, leasesKey, whole(clock(nowGiven) + leaseMs))
return answers

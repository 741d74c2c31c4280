-- Reserves in one set of budgets, in order; each request gets a reservation in all of them or in none.
--
-- The arguments from the fourth on are, for each of `budgetCount` budgets: id, limit, '1' if it is hard, window; then
-- for each request: id, user, amount, wished amount or '', kind. The kind is `n` for a request that Redis cannot have,
-- `h` for one that it has unless the request ended, and '' otherwise.
--
-- The answer for each request is 0 if `amount` was granted; {0, granted} if more was; {1, budget that is short, 1 if
-- only open reservations of others make it short}; {2} if the request has ended; {3, epoch} if a budget is not loaded;
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
local ids, names, asked, first = {}, {}, {}, 4 + 4 * count
for n = 1, count do
  ids[n] = ARGV[4 * n]
  names[2 * n - 1], names[2 * n] = ids[n], ids[n] .. 'h'
end
for at = first, #ARGV, 5 do
  if ARGV[at + 4] ~= 'n' then table.insert(asked, ARGV[at]) end
end
readRecords(holdsKey, asked)
local free, open, isRead = {}, {}, true
if count > 0 then
  local values = redis.call('HMGET', stateKey, unpack(names))
  for n = 1, count do
    local of, window, used, held = string.match(values[2 * n - 1] or '', '^(%d+) %d+ (%d+) (%d+) (%d+)$')
    if of ~= epoch then isRead = false
    else
      if tonumber(ARGV[4 * n + 3]) > tonumber(window) then used = 0 end
      open[n] = tonumber(values[2 * n] or 0)
      free[n] = ARGV[4 * n + 1] - used - held - open[n]
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
    if more > 0 and free[n] < more and ARGV[4 * n + 2] == '1' then
      return ids[n], free[n] + open[n] - mine >= more and 1 or 0
    end
  end
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
    local short, isCrowded = shortOf(before, granted)
    if short then answer = {1, tonumber(short), isCrowded}
    else
      for n = 1, count do free[n] = free[n] - granted + heldIn(ids[n], before) end
      if before then change(before.of, -before.amount) end
      change(mine, granted)
      if count > 0 then put(id, granted, ARGV[at + 1], mine) else drop(id) end
      if granted > amount then answer = {0, granted} end
    end
  end
  table.insert(answers, answer)
end
write(stateKey, holdsKey, leasesKey, whole(clock(nowGiven) + leaseMs))
return answers

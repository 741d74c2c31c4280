-- Puts an amount in each of a set of budgets, without checking their limits. The arguments from the fifth on are
-- request, user and amount of each.
--
-- If `openFlag` is '1', changes only open requests; otherwise only requests that are not open, or have a lower amount.

local stateKey = KEYS[1]
local holdsKey = KEYS[2]
local leasesKey = KEYS[3]
local nowGiven = ARGV[1]
local leaseMs = ARGV[2]
local openFlag = ARGV[3]
local budgetIds = ARGV[4]

-- include ../../../../redis/lua/clock.lua
-- include records.lua

local isOpen, ids, answers = openFlag == '1', {}, {}
for at = 5, #ARGV, 3 do table.insert(ids, ARGV[at]) end
readRecords(holdsKey, ids)
for at = 5, #ARGV, 3 do
  local before, amount = records[ARGV[at]], tonumber(ARGV[at + 2])
  local isWanted = isOpen and before and (before.amount ~= amount or before.of ~= budgetIds)
  if not isOpen then isWanted = not before or before.amount < amount end
  if isWanted then
    if before then change(before.of, -before.amount) end
    change(budgetIds, amount)
    if amount > 0 and budgetIds ~= '' then put(ARGV[at], amount, ARGV[at + 1], budgetIds) else drop(ARGV[at]) end
  end
  table.insert(answers, 1)
end
write(stateKey, holdsKey, leasesKey, not isOpen and whole(clock(nowGiven) + leaseMs))
return answers

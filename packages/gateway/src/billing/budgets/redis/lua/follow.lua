-- Writes states from the database and removes requests that they include; returns the number of removed requests. The
-- arguments from the third on are budget, revision, window, used and held of `stateCount` states, then the requests.
--
-- Skips a state of another epoch, and one that is older than the known state.

local epochKey = KEYS[1]
local stateKey = KEYS[2]
local holdsKey = KEYS[3]
local leasesKey = KEYS[4]
local readEpoch = ARGV[1]
local stateCount = ARGV[2]

-- include ../../../../redis/lua/clock.lua
-- include records.lua

local epoch, count = redis.call('GET', epochKey), tonumber(stateCount)
local ids, states = {}, {}
for at = 3 + 5 * count, #ARGV do table.insert(ids, ARGV[at]) end
readRecords(holdsKey, ids)
if epoch == readEpoch and count > 0 then
  local names = {}
  for at = 3, 2 + 5 * count, 5 do table.insert(names, ARGV[at]) end
  local known = redis.call('HMGET', stateKey, unpack(names))
  for n = 1, count do
    local of, revision = string.match(known[n] or '', '^(%d+) (%d+) ')
    local at = 5 * n - 2
    if of ~= epoch or tonumber(revision) <= tonumber(ARGV[at + 1]) then
      table.insert(states, ARGV[at])
      table.insert(states, table.concat({ epoch, unpack(ARGV, at + 1, at + 4) }, ' '))
    end
  end
end
local removed = 0
for _, id in ipairs(ids) do
  local record = records[id]
  if record then
    change(record.of, -record.amount)
    drop(id)
    removed = removed + 1
  end
end
if #states > 0 then redis.call('HSET', stateKey, unpack(states)) end
write(stateKey, holdsKey, leasesKey)
return removed

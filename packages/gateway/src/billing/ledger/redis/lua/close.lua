-- The end of `settle.lua` and `reap.lua`: charges reservations of one account, in order.
--
-- The script that includes it defines `closedState`, the record of a closed reservation, and `refuse(id)`, which
-- returns the answer for a reservation that it does not close. The arguments from the fourth on are request id, quota
-- and charge of each. The answer for each is the stream id of its charge, or a code of `SETTLED`: -1 unknown, -2
-- settled before, -3 reaped.
--
-- A reservation is charged once: its record becomes `closedState` in the write that appends the charge, and the record
-- stays until the database has the charge. An account that is not loaded counts the change in `n`, so that a load that
-- has already begun does not lose it.

-- Sums above this are not exact in Lua.
local maxAtOnce = 9e15

local ids = {}
for at = 4, #ARGV, 3 do table.insert(ids, ARGV[at]) end
local records = redis.call('HMGET', holdsKey, unpack(ids))
local epoch, hasToken = redis.call('GET', epochKey), withToken == '1'
local function reading(account)
  local seed = redis.call('HMGET', account, 'e', 'i')
  return epoch and seed[1] == epoch and seed[2] or ''
end
local ofUser, ofToken = reading(userKey), hasToken and reading(tokenKey) or ''
local held, due, count = 0, 0, 0
local function take(account, of)
  if held ~= 0 then redis.call('HINCRBY', account, 'h', -held) end
  if of == '' then redis.call('HINCRBY', account, 'n', count)
  elseif due ~= 0 then redis.call('HINCRBY', account, 'b', -due) end
end
local function takeAll()
  if count == 0 then return end
  take(userKey, ofUser)
  if hasToken then take(tokenKey, ofToken) end
  held, due, count = 0, 0, 0
end
local answers, closed, states, seen = {}, {}, {}, {}
for at, id in ipairs(ids) do
  local record, quota, answer = records[at], tonumber(ARGV[1 + 3 * at + 1]), nil
  if not record then answer = -1
  elseif record == 's' or closed[id] then answer = -2
  elseif record == 'r' then answer = -3 end
  answer = refuse(id) or answer
  if answer == nil then
    answer = redis.call('XADD', chargesKey, '*', 'a', accountName, 'i', ofUser, 'j', ofToken, 'e', ARGV[1 + 3 * at + 2])
    closed[id] = true
    table.insert(states, id) table.insert(states, closedState)
    if string.sub(record, -1) == '+' then table.insert(seen, id) end
    if due + quota > maxAtOnce then takeAll() end
    held, due, count = held + tonumber(string.match(record, '^%d+')), due + quota, count + 1
  end
  table.insert(answers, answer)
end
takeAll()
if #states == 0 then return answers end
redis.call('HSET', holdsKey, unpack(states))
local ended = {}
for id in pairs(closed) do table.insert(ended, id) end
redis.call('ZREM', leasesKey, unpack(ended))
if #seen > 0 then redis.call('HDEL', seenKey, unpack(seen)) end
return answers

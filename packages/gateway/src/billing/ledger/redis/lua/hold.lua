-- Reserves for calls of one account, in order, and writes all granted reservations at once.
--
-- The arguments from the sixth on are, for each call: id, amount, '1' if it has a price, the wished amount or '', the
-- tail of its record, '1' if an earlier attempt may have run. The answer for each is 0 if the amount was granted; {0,
-- amount, 1 if less than that is left}; {1, free, held} if the user's balance is short; {2, free, held} if the token's
-- is; {3} if the user is not loaded; {4} if the token is not loaded; {5} if the shard is closed.
--
-- No answer takes an available balance below zero: later calls of the list see the reservations of earlier ones. A
-- repeated call gets the reservation that it already has.

local epochKey = KEYS[1]
local userKey = KEYS[2]
local tokenKey = KEYS[3]
local holdsKey = KEYS[4]
local leasesKey = KEYS[5]
local nowGiven = ARGV[1]
local leaseMs = ARGV[2]
local withToken = ARGV[3]
local tokenGrant = ARGV[4]
local tokenRevision = ARGV[5]

-- include ../../../../redis/lua/clock.lua
-- include free.lua

local epoch, hasToken = redis.call('GET', epochKey), withToken == '1'
local user, token, ofUser, ofToken = nil, false, 0, 0
if epoch then
  user, ofUser = free(userKey, epoch)
  if hasToken then token, ofToken = free(tokenKey, epoch, tokenGrant, tokenRevision) end
end
local function lacks(have, amount, isCharged)
  return have and (isCharged or amount > 0) and (have < amount or (isCharged and have <= 0))
end
local answers, mine, records, ids, held = {}, {}, {}, {}, 0
local function raised(amount, wished)
  local room = user
  if token and token < room then room = token end
  return math.max(amount, math.min(wished, math.floor(room / 2)))
end
local function before(id)
  local record = mine[id] or redis.call('HGET', holdsKey, id)
  return record and (tonumber(string.match(record, '^%d+')) or 0)
end
for at = 6, #ARGV, 6 do
  local id, amount, isCharged = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2] == '1'
  local known = ARGV[at + 5] == '1' and before(id)
  local answer = 0
  if not epoch then answer = {5}
  elseif known then
    if known > amount then answer = {0, known, 0} end
  elseif user == nil then answer = {3}
  elseif lacks(user, amount, isCharged) then answer = {1, user, ofUser}
  elseif token == nil then answer = {4}
  elseif lacks(token, amount, isCharged) then answer = {2, token, ofToken}
  else
    local granted = ARGV[at + 1]
    if ARGV[at + 3] ~= '' then
      local more = raised(amount, tonumber(ARGV[at + 3]))
      if more > amount then
        granted, amount = string.format('%.0f', more), more
        answer = {0, more, 0}
      end
    end
    local left = token and math.min(user, token) or user
    if amount > 0 and left - amount < amount then answer = {0, amount, 1} end
    mine[id] = granted .. ARGV[at + 4]
    table.insert(records, id) table.insert(records, mine[id])
    table.insert(ids, id)
    held = held + amount
    user = user - amount
    if token then token = token - amount end
  end
  table.insert(answers, answer)
end
if #ids == 0 then return answers end
redis.call('HSET', holdsKey, unpack(records))
if held > 0 then
  redis.call('HINCRBY', userKey, 'h', held)
  if hasToken then redis.call('HINCRBY', tokenKey, 'h', held) end
end
local ends, leases = clock(nowGiven) + leaseMs, {}
for _, id in ipairs(ids) do table.insert(leases, ends) table.insert(leases, id) end
redis.call('ZADD', leasesKey, unpack(leases))
return answers

-- A snapshot of accounts of one shard. The keys from the fourth on are the accounts, the arguments from the second on
-- their names: `u12` or `t34`.
--
-- For each account loaded in this epoch, returns balance, held, version, sum of open reservations, '1' if it has
-- unbooked charges, and the limit of a token; for all others, returns an empty list. If the stream is longer than
-- `maxCharges`, all accounts count as having unbooked charges.

local epochKey = KEYS[1]
local holdsKey = KEYS[2]
local chargesKey = KEYS[3]
local maxCharges = ARGV[1]

local open, waiting = {}, {}
local records = redis.call('HVALS', holdsKey)
for _, record in ipairs(records) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount then
    open['u' .. user] = (open['u' .. user] or 0) + tonumber(amount)
    open['t' .. token] = (open['t' .. token] or 0) + tonumber(amount)
  end
end
local isLong = redis.call('XLEN', chargesKey) > tonumber(maxCharges)
if not isLong then
  for _, entry in ipairs(redis.call('XRANGE', chargesKey, '-', '+')) do
    local user, token = string.match(entry[2][2], '^(%d+):(%d+)$')
    waiting['u' .. user], waiting['t' .. token] = 1, 1
  end
end
local epoch, answer = redis.call('GET', epochKey), {}
for at = 4, #KEYS do
  local name = ARGV[at - 2]
  local a = redis.call('HMGET', KEYS[at], 'e', 'b', 'h', 'v', 'g')
  if epoch and a[1] == epoch then
    local isWaiting = (isLong or waiting[name]) and 1 or 0
    table.insert(answer, {a[2], a[3] or '0', a[4], string.format('%.0f', open[name] or 0), isWaiting, a[5] or ''})
  else table.insert(answer, {}) end
end
return answer

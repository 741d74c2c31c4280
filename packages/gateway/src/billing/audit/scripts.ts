import { script } from "../../redis/script.ts";

/**
 * A snapshot of accounts of one shard. KEYS epoch holds charges, then accounts; ARGV limit, then `u12` or `t34` for
 * each account. For each account loaded in this epoch, returns balance, held, version, sum of open reservations, 1 if
 * it has unbooked charges, and the limit of a token; for others an empty list.
 */
export const READ_ACCOUNTS = script(`
local open, waiting = {}, {}
local records = redis.call('HVALS', KEYS[2])
for _, record in ipairs(records) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount then
    open['u' .. user] = (open['u' .. user] or 0) + tonumber(amount)
    open['t' .. token] = (open['t' .. token] or 0) + tonumber(amount)
  end
end
local isLong = redis.call('XLEN', KEYS[3]) > tonumber(ARGV[1])
if not isLong then
  for _, entry in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
    local user, token = string.match(entry[2][2], '^(%d+):(%d+)$')
    waiting['u' .. user], waiting['t' .. token] = 1, 1
  end
end
local epoch, answer = redis.call('GET', KEYS[1]), {}
for at = 4, #KEYS do
  local name = ARGV[at - 2]
  local a = redis.call('HMGET', KEYS[at], 'e', 'b', 'h', 'v', 'g')
  if epoch and a[1] == epoch then
    local isWaiting = (isLong or waiting[name]) and 1 or 0
    table.insert(answer, {a[2], a[3] or '0', a[4], string.format('%.0f', open[name] or 0), isWaiting, a[5] or ''})
  else table.insert(answer, {}) end
end
return answer`);

/** Marks an unchanged account for reloading. KEYS account; ARGV balance, version. */
export const INVALIDATE = script(`
local a = redis.call('HMGET', KEYS[1], 'b', 'v')
if a[1] ~= ARGV[1] or a[2] ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], 'e')
redis.call('HINCRBY', KEYS[1], 'n', 1)
return 1`);

/** Sets the held amount to the sum of the open reservations. KEYS account holds; ARGV `user` or `token`, id. */
export const RECOUNT = script(`
local sum = 0
for _, record in ipairs(redis.call('HVALS', KEYS[2])) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount and (ARGV[1] == 'user' and user or token) == ARGV[2] then sum = sum + tonumber(amount) end
end
redis.call('HSET', KEYS[1], 'h', string.format('%.0f', sum))
return 1`);
